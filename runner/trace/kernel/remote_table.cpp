// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/remote_table.h"

#include <linux/fuse.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/trace/files/device_number.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using Name = std::pair<uint32_t, std::string_view>;

// Message types of 9P2000.L.
constexpr std::array k9pNames = {
    Name{8, "statfs"},       Name{12, "lopen"},    Name{14, "lcreate"},  Name{16, "symlink"},  Name{18, "mknod"},
    Name{20, "rename"},      Name{22, "readlink"}, Name{24, "getattr"},  Name{26, "setattr"},  Name{30, "xattrwalk"},
    Name{32, "xattrcreate"}, Name{40, "readdir"},  Name{50, "fsync"},    Name{52, "lock"},     Name{54, "getlock"},
    Name{70, "link"},        Name{72, "mkdir"},    Name{74, "renameat"}, Name{76, "unlinkat"}, Name{100, "version"},
    Name{102, "auth"},       Name{104, "attach"},  Name{108, "flush"},   Name{110, "walk"},    Name{112, "open"},
    Name{114, "create"},     Name{116, "read"},    Name{118, "write"},   Name{120, "clunk"},   Name{122, "remove"},
    Name{124, "stat"},       Name{126, "wstat"}};

constexpr std::array kFuseNames = {Name{FUSE_LOOKUP, "lookup"},       Name{FUSE_FORGET, "forget"},
                                   Name{FUSE_GETATTR, "getattr"},     Name{FUSE_SETATTR, "setattr"},
                                   Name{FUSE_READLINK, "readlink"},   Name{FUSE_SYMLINK, "symlink"},
                                   Name{FUSE_MKNOD, "mknod"},         Name{FUSE_MKDIR, "mkdir"},
                                   Name{FUSE_UNLINK, "unlink"},       Name{FUSE_RMDIR, "rmdir"},
                                   Name{FUSE_RENAME, "rename"},       Name{FUSE_LINK, "link"},
                                   Name{FUSE_OPEN, "open"},           Name{FUSE_READ, "read"},
                                   Name{FUSE_WRITE, "write"},         Name{FUSE_STATFS, "statfs"},
                                   Name{FUSE_RELEASE, "release"},     Name{FUSE_FSYNC, "fsync"},
                                   Name{FUSE_GETXATTR, "getxattr"},   Name{FUSE_LISTXATTR, "listxattr"},
                                   Name{FUSE_FLUSH, "flush"},         Name{FUSE_OPENDIR, "opendir"},
                                   Name{FUSE_READDIR, "readdir"},     Name{FUSE_RELEASEDIR, "releasedir"},
                                   Name{FUSE_ACCESS, "access"},       Name{FUSE_CREATE, "create"},
                                   Name{FUSE_FALLOCATE, "fallocate"}, Name{FUSE_READDIRPLUS, "readdirplus"},
                                   Name{FUSE_RENAME2, "rename"},      Name{FUSE_LSEEK, "lseek"}};

template <size_t n>
std::string name_in(const std::array<Name, n>& names, uint32_t code) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const Name& name) { return name.first == code; });
  return found == names.end() ? fmt::format("type {}", code) : std::string(found->second);
}

template <size_t n>
std::string text_in(const char (&field)[n]) {
  return util::escaped_utf8({field, ::strnlen(field, n)});
}

int32_t number_of(uint32_t number) { return static_cast<int32_t>(std::min<uint32_t>(number, INT32_MAX)); }

std::vector<std::string> protocol_names() { return {"9p", "nfs", "fuse", "other"}; }

}  // namespace

std::string remote_op_name(const mlrun_remote& record) {
  if (record.protocol == MLRUN_REMOTE_9P) return name_in(k9pNames, record.code);
  if (record.protocol == MLRUN_REMOTE_FUSE) return name_in(kFuseNames, record.code);
  std::string name = text_in(record.name);
  if (name.empty()) return fmt::format("type {}", record.code);
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

RemoteTable::RemoteTable()
    : table_("remote"),
      span_(table_),
      owner_(table_),
      protocol_(table_.label("protocol", protocol_names())),
      op_(table_.text("op")),
      op_id_(table_.optional_int64("op_id", Encoding::kDelta)),
      call_id_(table_.optional_int64("call_id", Encoding::kDelta)),
      dev_(table_.optional_int64("dev")),
      ino_(table_.optional_int64("ino")),
      file_id_(table_.optional_int64("file_id")),
      err_(table_.int32("err")),
      server_(table_.optional_text("server")),
      program_(table_.optional_text("program")),
      version_(table_.optional_int32("version")),
      sent_(table_.optional_int64("sent_bytes")),
      received_(table_.optional_int64("received_bytes")),
      queue_(table_.optional_int64("queue_ns", Encoding::kSplit)),
      rtt_(table_.optional_int64("rtt_ns", Encoding::kSplit)),
      transmissions_(table_.optional_int32("transmissions")) {}

void RemoteTable::add_message(const mlrun_remote& record) {
  const auto put = [](Int64Column& column, uint64_t value) {
    column.add_unless(-1, value > INT64_MAX ? -1 : static_cast<int64_t>(value));
  };
  server_.add_unless_empty(text_in(record.server));
  program_.add_unless_empty(text_in(record.program));
  const bool is_rpc = record.protocol == MLRUN_REMOTE_RPC;
  is_rpc ? version_.add(number_of(record.version)) : version_.add_null();
  put(sent_, record.sent);
  put(received_, record.received);
  put(queue_, record.queue_ns);
  put(rtt_, record.rtt_ns);
  record.transmissions != 0 ? transmissions_.add(number_of(record.transmissions)) : transmissions_.add_null();
}

void RemoteTable::add(const RemoteRow& row, const GroupEnds& ends) {
  const mlrun_remote& record = row.record;
  span_.add(row.ts_ns, row.end_ns, ends);
  owner_.add(row.origin);
  protocol_.add(std::min<size_t>(record.protocol, MLRUN_REMOTE_PROTOCOLS));
  op_.add(remote_op_name(record));
  op_id_.add_unless(0, static_cast<int64_t>(record.operation));
  call_id_.add_unless(0, row.call_id);
  record.inode == 0 ? dev_.add_null() : dev_.add(stat_device(record.device));
  ino_.add_unless(0, static_cast<int64_t>(record.inode));
  file_id_.add_unless(0, row.file_id);
  err_.add(record.error < 0 ? -std::max(record.error, -INT32_MAX) : 0);
  add_message(record);
  table_.row_added();
}

}  // namespace mlrun::trace
