// SPDX-License-Identifier: Apache-2.0
#include "runner/util/secrets.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runner/util/secret_names.h"

namespace mlrun::util {
namespace {

TEST(Secrets, VariablesNamedLikeSecretsAreMasked) {
  for (const char* name : {"PASSWORD",
                           "DB_PASSWORD",
                           "PGPASSWORD",
                           "DB_PASSWD",
                           "DB_PASS",
                           "SSHPASS",
                           "MYSQL_PWD",
                           "MY_PWD",
                           "HF_TOKEN",
                           "GITHUB_TOKEN",
                           "TOKEN",
                           "CI_JOB_TOKEN",
                           "AUTHTOKEN",
                           "MY_SECRET",
                           "CLIENT_SECRET",
                           "AWS_SECRET_ACCESS_KEY",
                           "aws_access_key_id",
                           "OPENAI_API_KEY",
                           "WANDB_API_KEY",
                           "API_KEY_2",
                           "APIKEY",
                           "MY_KEY",
                           "FERNET_KEY",
                           "GITHUB_PAT",
                           "AZURE_DEVOPS_EXT_PAT",
                           "PAT",
                           "GIT_CREDENTIALS",
                           "GOOGLE_APPLICATION_CREDENTIALS",
                           "AUTHORIZATION",
                           "REDIS_AUTH",
                           "HTTP_COOKIE",
                           "SENTRY_DSN",
                           "AZURE_STORAGE_CONNECTION_STRING",
                           "CONN_STR",
                           "GPG_PASSPHRASE",
                           "SLACK_WEBHOOK_URL",
                           "dbPassword",
                           "accessToken"}) {
    EXPECT_TRUE(names_secret(name, NamePlace::kEnvironment)) << name;
    EXPECT_EQ(masked_value(name, "x1y2"), "***") << name;
  }
}

TEST(Secrets, OtherVariablesStay) {
  for (const char* name : {"PATH",
                           "PWD",
                           "OLDPWD",
                           "HOME",
                           "PYTHONPATH",
                           "PYTHONHASHSEED",
                           "TOKENIZERS_PARALLELISM",
                           "KEYBOARD",
                           "XKB_KEYMAP",
                           "SSH_AUTH_SOCK",
                           "XAUTHORITY",
                           "GIT_AUTHOR_NAME",
                           "MAX_TOKENS",
                           "NUM_TOKENS",
                           "PAD_TOKEN_ID",
                           "TOKENIZER",
                           "KEY_SIZE",
                           "POSTGRES_PASSWORD_FILE",
                           "GIT_ASKPASS",
                           "BYPASS",
                           "COMPASS",
                           "PRIMARY_KEY",
                           "PUBLIC_KEY",
                           "SORT_KEY",
                           "MONKEY",
                           "CUDA_VISIBLE_DEVICES",
                           "NCCL_DEBUG",
                           "PATTERN",
                           "COMPAT",
                           "SECRET_NAME",
                           "TOKEN_LIMIT",
                           "AUTH_TYPE",
                           "LS_COLORS"}) {
    EXPECT_FALSE(names_secret(name, NamePlace::kEnvironment)) << name;
    EXPECT_EQ(masked_value(name, "x1y2"), "x1y2") << name;
  }
  EXPECT_EQ(masked_value("HF_TOKEN", ""), "");
  EXPECT_EQ(masked_value("USE_AUTH_TOKEN", "True"), "True");
}

TEST(Secrets, ValuesOfOtherVariablesLoseUsersAndPasswords) {
  const std::pair<const char*, const char*> cases[] = {
      {"http://user:X@proxy:3128", "http://***:***@proxy:3128"},
      {"postgres://u:X@h/db", "postgres://***:***@h/db"},
      {"postgres://u:X/Y#Z@h/db", "postgres://***:***@h/db"},
      {"mysql+pymysql://u:p@X/Y@h/db", "mysql+pymysql://***:***@h/db"},
      {"https://X@github.com/a/b", "https://***@github.com/a/b"},
      {"git+https://u:X@github.com/a/b.git@main", "git+https://***:***@github.com/a/b.git@main"},
      {"https://h/p,https://me:X@g/q", "https://h/p,https://***:***@g/q"},
      {"mongodb://u:X@h1:27017,h2:27017/db?w=1", "mongodb://***:***@h1:27017,h2:27017/db?w=1"},
      {"https://h/p", "https://h/p"},
      {"https://h:8080/@scope/package", "https://h:8080/@scope/package"},
      {"https://[::1]/@scope", "https://[::1]/@scope"},
      {"ssh://git@github.com/a/b", "ssh://git@github.com/a/b"},
      {"git@github.com:a/b.git", "git@github.com:a/b.git"},
      {"u:X@h", "***:***@h"},
      {"--proxy=u:X@h:80", "--proxy=***:***@h:80"},
      {"image:1.2@sha256:abc", "image:1.2@sha256:abc"},
      {"npm:react@18.2.0", "npm:react@18.2.0"},
      {"mailto:a@b.c", "mailto:a@b.c"},
      {"AccountName=x;AccountKey=X==;EndpointSuffix=y", "AccountName=x;AccountKey=***;EndpointSuffix=y"},
      {"Server=h;Uid=sa;Pwd=X;", "Server=h;Uid=sa;Pwd=***;"},
      {"Server=tcp:h,1;User ID=u;Password=X Y;Encrypt=True;", "Server=tcp:h,1;User ID=u;Password=***;Encrypt=True;"},
      {"machine h login me password X", "machine h login me password ***"},
      {"-Dpassword=X -Xmx1g", "-Dpassword=*** -Xmx1g"},
      {"host=h password=X dbname=d", "host=h password=*** dbname=d"},
      {R"({"user": "u", "password": "X Y", "n": 1})", R"({"user": "u", "password": "***", "n": 1})"},
      {R"({"user":"u","api_key":"X Y","n":1})", R"({"user":"u","api_key":"***","n":1})"},
      {"https://h/?a=1&token=X&b=2", "https://h/?a=1&token=***&b=2"},
      {"https://h/?sv=1&sig=X%3D", "https://h/?sv=1&sig=***"},
      {"Authorization: Bearer X", "Authorization: Bearer ***"},
      {"Cookie: a=X; b=Y", "Cookie: ***"},
      {"/usr/local/bin:/usr/bin", "/usr/local/bin:/usr/bin"},
      {"*.tar=01;31:*.key=00;90", "*.tar=01;31:*.key=00;90"},
      {"max_split_size_mb:512,expandable_segments:True", "max_split_size_mb:512,expandable_segments:True"},
  };
  for (const auto& [value, shown] : cases) EXPECT_EQ(masked_value("SETTING", value), shown);
}

TEST(Secrets, SecretsAmongArgumentsAreMasked) {
  using Words = std::vector<std::string>;
  const std::pair<Words, Words> cases[] = {
      {{"a", "--api-key=X", "b"}, {"a", "--api-key=***", "b"}},
      {{"a", "--api-key", "X", "b"}, {"a", "--api-key", "***", "b"}},
      {{"a", "--password", "X Y", "b"}, {"a", "--password", "***", "b"}},
      {{"a", "--password=X Y"}, {"a", "--password=***"}},
      {{"a", "-password", "X"}, {"a", "-password", "***"}},
      {{"a", "--api-key", "-X", "b"}, {"a", "--api-key", "***", "b"}},
      {{"a", "--use-token", "--lr", "X"}, {"a", "--use-token", "--lr", "X"}},
      {{"a", "--db.password", "X"}, {"a", "--db.password", "***"}},
      {{"a", "logger.api_key=X"}, {"a", "logger.api_key=***"}},
      {{"env", "HF_TOKEN=X", "MY_KEY=X Y", "a"}, {"env", "HF_TOKEN=***", "MY_KEY=***", "a"}},
      {{"docker", "run", "-e", "DB_PASS=X", "-eGITHUB_PAT=X", "--env=MY_KEY=X Y", "-p", "80:80", "i"},
       {"docker", "run", "-e", "DB_PASS=***", "-eGITHUB_PAT=***", "--env=MY_KEY=***", "-p", "80:80", "i"}},
      {{"docker", "login", "-u", "me", "-p", "X"}, {"docker", "login", "-u", "me", "-p", "***"}},
      {{"curl", "-H", "Authorization: Bearer X"}, {"curl", "-H", "Authorization: Bearer ***"}},
      {{"curl", "-HX-Api-Key: X Y"}, {"curl", "-HX-Api-Key: ***"}},
      {{"curl", "-u", "me:X", "--user=me:X", "h"}, {"curl", "-u", "***", "--user=***", "h"}},
      {{"mysql", "-pX", "-u", "me"}, {"mysql", "-p***", "-u", "me"}},
      {{"sudo", "/usr/bin/mysqldump", "-p", "db"}, {"sudo", "/usr/bin/mysqldump", "-p", "db"}},
      {{"redis-cli", "-a", "X"}, {"redis-cli", "-a", "***"}},
      {{"sshpass", "-p", "X", "ssh", "h"}, {"sshpass", "-p", "***", "ssh", "h"}},
      {{"openssl", "enc", "-pass", "pass:X"}, {"openssl", "enc", "-pass", "***"}},
      {{"aws", "configure", "set", "aws_secret_access_key", "X"},
       {"aws", "configure", "set", "aws_secret_access_key", "***"}},
      {{"sh", "-c", "a=1; b --password X; c --lr 2"}, {"sh", "-c", "a=1; b --password ***; c --lr 2"}},
      {{"sh", "-c", "PASSWORD=X; train --lr 3"}, {"sh", "-c", "PASSWORD=***; train --lr 3"}},
      {{"sh", "-c", "mysql -pX db | b -p1"}, {"sh", "-c", "mysql -p*** db | b -p1"}},
      {{"sh", "-c", "curl -H 'Authorization: Bearer X' h"}, {"sh", "-c", "curl -H 'Authorization: Bearer ***' h"}},
      {{"ssh", "h", "b --password 'X Y' --lr 2"}, {"ssh", "h", "b --password '***' --lr 2"}},
      {{"a", "--config", R"({"token": "X", "lr": 0.1})"}, {"a", "--config", R"({"token": "***", "lr": 0.1})"}},
      {{"a", "--key", "A1b2C3d4E5f6G7h8"}, {"a", "--key", "***"}},
      {{"curl", "-sSLu", "me:X", "h"}, {"curl", "-sSLu", "***", "h"}},
      {{"wandb", "login", "X"}, {"wandb", "login", "***"}},
      {{"a", "--pwd", "X"}, {"a", "--pwd", "***"}},
      {{"python", "-c", "print(\"token:\", x)"}, {"python", "-c", "print(\"token:\", x)"}},
      {{"gpg", "--passphrase", "X"}, {"gpg", "--passphrase", "***"}},
      {{"a", "https://me:X@h:80/p"}, {"a", "https://***:***@h:80/p"}},
      {{"a", "token: X"}, {"a", "token: ***"}},
      {{}, {}},
  };
  for (const auto& [arguments, shown] : cases) EXPECT_EQ(masked_arguments(arguments), shown);
}

TEST(Secrets, OtherArgumentsStay) {
  const std::vector<std::vector<std::string>> cases = {
      {"train.py", "--lr", "0.1", "--max-tokens", "5", "--tokenizer", "x", "--key-size", "2048"},
      {"a", "--max_new_tokens=5", "--pad-token", "<pad>", "--pad_token_id=0", "--eos-token=</s>", "--num-tokens", "3"},
      {"a", "--image-key", "img", "--label_key=label", "--key", "image", "--sort-key=name"},
      {"sort", "-k", "2,2", "--key=2,2"},
      {"cut", "-d", " ", "-f", "2"},
      {" curl", " ", "mysql "},
      {"curl", "--key", "client.pem", "--cert", "client.crt", "https://h/p"},
      {"a", "--no-auth", "train.py", "--auth-type", "none", "--token-file", "/run/t", "--password-file=/run/p"},
      {"ffmpeg", "--two-pass", "1", "--bypass", "x"},
      {"apptainer", "exec", "--pwd", "/data", "i", "train"},
      {"psql", "-p", "5432", "-h", "db"},
      {"torchrun", "--rdzv-endpoint=node:29400", "train.py"},
      {"python", "-m", "http.server", "8000"},
      {"a", "it's", "a:b", "x@y", "b@1.2", "--author", "me", "--compat", "--monkey", "x"},
      {"\xff", ""},
  };
  for (const auto& arguments : cases) EXPECT_EQ(masked_arguments(arguments), arguments);
}

TEST(Secrets, LongValuesAreMaskedToTheirEnd) {
  std::string token;
  for (int i = 0; token.size() < 2500; ++i) token += "aB3d,eF5h;iJ7-" + std::to_string(i);
  const std::string filler(1500, 'x');
  const std::string plain = token.substr(0, 1000) + std::string(1500, 'q');
  const std::vector<std::pair<std::string, std::string>> values = {
      {"https://h/?a=1&token=" + plain + "&b=2", "https://h/?a=1&token=***&b=2"},
      {"https://h/" + filler + "?sv=1&sig=" + plain + "&se=2", "https://h/" + filler + "?sv=1&sig=***&se=2"},
      {"https://h/?sv=" + filler + "&sig=" + plain, "https://h/?sv=" + filler + "&sig=***"},
      {"https://me:" + std::string(2500, 'q') + "@h/p", "https://***:***@h/p"},
      {"me:" + std::string(2500, 'q') + "@h", "***:***@h"},
      {R"({"token":")" + token + R"(","n":1})", R"({"token":"***","n":1})"},
      {"Server=" + filler + ";Password=" + std::string(2500, 'q') + ";", "Server=" + filler + ";Password=***;"},
      {"a=" + filler + ",api_key=" + std::string(2500, 'q'), "a=" + filler + ",api_key=***"},
  };
  for (const auto& [value, shown] : values) {
    EXPECT_EQ(masked_value("SETTING", value), shown);
    EXPECT_EQ(masked_arguments({"a", value}), (std::vector<std::string>{"a", shown}));
  }
  EXPECT_EQ(masked_value("MY_TOKEN", token), "***");
  EXPECT_EQ(masked_value("OPTIONS", "-Dpassword=" + plain + " -Xmx1g"), "-Dpassword=*** -Xmx1g");
  EXPECT_EQ(masked_arguments({"a", "--token=" + token}), (std::vector<std::string>{"a", "--token=***"}));
  EXPECT_EQ(masked_arguments({"a", "sh", "-c", "b --token='" + token + "' c"}),
            (std::vector<std::string>{"a", "sh", "-c", "b --token='***' c"}));
}

// An argument may have 128 KiB. Steps that take time by the square of that take minutes.
TEST(Secrets, LongWordsAreSearchedOnce) {
  for (const char* part : {"key=", "a:b@", "@", ",@", "http://", "http://a", "http://a@", "\"key=", "key:,", "a,",
                           "&sig=", "token=true,", "key='\""}) {
    std::string word;
    while (word.size() < 128 << 10) word += part;
    EXPECT_GE(masked_value("SETTING", word).size(), 3U);
    EXPECT_GE(masked_value("SETTING", "key:" + word + ":)").size(), 3U);
  }
}

TEST(Secrets, CommandLinesOfTheKernelAreOneText) {
  EXPECT_EQ(masked_command_line(std::string("a\0--password\0X\0b\0", 17)), "a --password *** b");
  EXPECT_EQ(masked_command_line(std::string("a\0\0b\0\0", 6)), "a  b");
  EXPECT_EQ(masked_command_line("worker --token X"), "worker --token ***");
  EXPECT_EQ(masked_command_line(""), "");
}

}  // namespace
}  // namespace mlrun::util
