// SPDX-License-Identifier: Apache-2.0
// Each kind of bad plan gives one line with file, line and key.
#include <gtest/gtest.h>

#include "tests/runner/sweep/plan/plan_kit.h"

namespace mlrun::sweep {
namespace {

struct BadPlan {
  const char* name;
  std::string text;
  const char* begins;    // the only line
  const char* contains;  // in it
};

const std::string kStart = "repetitions = 3\nworkloads = [\"true\"]\n";

// A plan whose configuration in line 3 has these further lines, from line 5 on.
std::string configured(const std::string& lines) { return kStart + "[[configuration]]\nname = \"one\"\n" + lines; }

const std::vector<BadPlan> kBadPlans = {
    {"NoToml", "repetitions = \n", "plan.toml:1: ", "no TOML"},
    {"KeyTwice", "repetitions = 1\nrepetitions = 2\n", "plan.toml:2: ", "no TOML"},
    {"UnknownKey", plan_text("repetitons = 3\nworkloads = \"true\"\n"),
     "plan.toml:1: repetitons: ", "did you mean repetitions?"},
    {"UnknownKeyOfConfiguration", configured("optoins = \"--kprobes\"\n"),
     "plan.toml:5: configuration.optoins: ", "did you mean options?"},
    {"UnknownKeyOfStop", plan_text(kStart + "stop = {withn = \"2 %\", at_most = 20}\n"),
     "plan.toml:3: stop.withn: ", "did you mean within?"},
    {"UnknownTable", kStart + "[environment]\nA = \"1\"\n" + kGoodConfigurations,
     "plan.toml:3: environment: ", "no such key"},
    {"KeyOfPlanInConfiguration", configured("warm_up = 1\n"),
     "plan.toml:5: configuration.warm_up: ", "a key of the plan"},
    {"KeyOfPlanInMatrix", plan_text("workloads = \"true {a}\"\n[parameters]\na = 1\nrepetitions = 3\n"),
     "plan.toml: repetitions: ", "above"},
    {"NoRepetitions", plan_text("workloads = [\"true\"]\n"), "plan.toml: repetitions: ", "missing"},
    {"NoWorkloads", plan_text("repetitions = 3\n"), "plan.toml: workloads: ", "missing"},
    {"NoConfiguration", kStart, "plan.toml: configuration: ", "[[configuration]]"},
    {"NoName", kStart + "[[configuration]]\ndry = true\n", "plan.toml:3: configuration.name: ", "missing"},
    {"RepetitionsAsText", plan_text("repetitions = \"3\"\nworkloads = \"true\"\n"),
     "plan.toml:1: repetitions: ", "whole number"},
    {"RepetitionsAsFraction", plan_text("repetitions = 2.5\nworkloads = \"true\"\n"),
     "plan.toml:1: repetitions: ", "whole number"},
    {"NoRepetition", plan_text("repetitions = 0\nworkloads = \"true\"\n"),
     "plan.toml:1: repetitions: ", "0 is not from 1"},
    {"NegativeWarmUp", plan_text(kStart + "warm_up = -1\n"), "plan.toml:3: warm_up: ", "-1"},
    {"TooManyRuns", plan_text("repetitions = 100000\nworkloads = [\"true\", \"true 2\"]\n"),
     "plan.toml:1: repetitions: ", "400000 runs"},
    {"WorkloadsAsNumber", plan_text("repetitions = 3\nworkloads = 5\n"), "plan.toml:2: workloads: ", "array of texts"},
    {"NoWorkload", plan_text("repetitions = 3\nworkloads = []\n"), "plan.toml:2: workloads: ", "empty"},
    {"EmptyWorkload", plan_text("repetitions = 3\nworkloads = [\n  \"true\",\n  \" \"]\n"),
     "plan.toml:4: workloads: ", "empty"},
    {"NestedWorkload", plan_text("repetitions = 3\nworkloads = [[\"true\"]]\n"),
     "plan.toml:2: workloads: ", "this is an array"},
    {"OpenQuote", plan_text("repetitions = 3\nworkloads = [\"true 'x\"]\n"),
     "plan.toml:2: workloads: ", "' is not closed"},
    {"Redirection", plan_text("repetitions = 3\nworkloads = [\"true > log\"]\n"),
     "plan.toml:2: workloads: ", "no shell"},
    {"Pipe", plan_text("repetitions = 3\nworkloads = [\"true | cat\"]\n"), "plan.toml:2: workloads: ", "no shell"},
    {"TwoCommands", plan_text("repetitions = 3\nworkloads = [\"true; true\"]\n"),
     "plan.toml:2: workloads: ", "no shell"},
    {"ShellVariable", plan_text("repetitions = 3\nworkloads = [\"true $HOME\"]\n"),
     "plan.toml:2: workloads: ", "no shell"},
    {"HomeFolder", plan_text("repetitions = 3\nworkloads = [\"true ~/data\"]\n"),
     "plan.toml:2: workloads: ", "no shell"},
    {"NulInWorkload", plan_text("repetitions = 3\nworkloads = [\"true \\u0000x\"]\n"),
     "plan.toml:2: workloads: ", "null character"},
    {"SameWorkloadTwice", plan_text("repetitions = 3\nworkloads = [\"true 1\",\n\"true  '1'\"]\n"),
     "plan.toml:3: workloads: ", "twice"},
    {"MissingProgram", plan_text("repetitions = 3\nworkloads = [\"true\",\n\"no-such-program 1\"]\n"),
     "plan.toml:3: workloads: ", "no-such-program in PATH"},
    {"MissingPath", plan_text("repetitions = 3\nworkloads = [\"./no/such/program\"]\n"),
     "plan.toml:2: workloads: ", "no program ./no/such/program"},
    {"NotExecutable", plan_text("repetitions = 3\nworkloads = [\"/etc/passwd\"]\n"),
     "plan.toml:2: workloads: ", "not executable"},
    {"FolderAsProgram", plan_text("repetitions = 3\nworkloads = [\"/etc\"]\n"), "plan.toml:2: workloads: ", "/etc"},
    {"VariableAsProgram", plan_text("repetitions = 3\nworkloads = [\"A=1 true\"]\n"),
     "plan.toml:2: workloads: ", "environment"},
    {"ProgramOfMatrix",
     plan_text("repetitions = 3\nworkloads = [\"{p} 1\"]\nparameters = {p = [\"true\", \"no-such-program\"]}\n"),
     "plan.toml:2: workloads: ", "no-such-program"},
    {"ProgramNotInPathOfConfiguration", configured("environment = {PATH = \"/nowhere\"}\n"),
     "plan.toml:2: workloads: ", "no program true"},
    {"EmptyMatrix", plan_text("repetitions = 3\nworkloads = [\"true {a}\"]\nparameters = {}\n"),
     "plan.toml:3: parameters: ", "empty"},
    {"EmptyValues", plan_text("repetitions = 3\nworkloads = [\"true {a}\"]\n[parameters]\na = []\n"),
     "plan.toml:4: parameters.a: ", "empty"},
    {"MatrixAsArray", plan_text("repetitions = 3\nworkloads = [\"true {a}\"]\nparameters = [1]\n"),
     "plan.toml:3: parameters: ", "this is an array"},
    {"TableAsValue", plan_text("repetitions = 3\nworkloads = [\"true {a}\"]\nparameters = {a = [{b = 1}]}\n"),
     "plan.toml:3: parameters.a: ", "text, a number"},
    {"DateAsValue", plan_text("repetitions = 3\nworkloads = [\"true {a}\"]\nparameters = {a = [1979-05-27]}\n"),
     "plan.toml:3: parameters.a: ", "text, a number"},
    {"ValueTwice", plan_text("repetitions = 3\nworkloads = [\"true {a}\"]\nparameters = {a = [2, \"2\"]}\n"),
     "plan.toml:3: parameters.a: ", "twice"},
    {"NameWithBlankInMatrix", plan_text("repetitions = 3\nworkloads = [\"true\"]\nparameters = {\"a b\" = [2]}\n"),
     "plan.toml:3: parameters.a b: ", "{name}"},
    {"UnusedParameter", plan_text("repetitions = 3\nworkloads = [\"true {a}\"]\n[parameters]\na = [1]\nb = [1, 2]\n"),
     "plan.toml:5: parameters.b: ", "no command uses it"},
    {"UnusedParameterOfConfiguration", configured("parameters = {a = 1}\n"),
     "plan.toml:5: configuration.parameters.a: ", "no command uses it"},
    {"UnknownName",
     plan_text("repetitions = 3\nworkloads = [\"true {workres} {workers}\"]\nparameters = {workers = [1]}\n"),
     "plan.toml:2: workloads: ", "did you mean {workers}?"},
    {"NoMatrix", plan_text("repetitions = 3\nworkloads = [\"true {a}\"]\n"),
     "plan.toml:2: workloads: ", "{a} has no value"},
    {"ValueMissingInOneConfiguration",
     "repetitions = 3\nworkloads = [\"true {a}\"]\n[[configuration]]\nname = \"x\"\nparameters = {a = "
     "1}\n[[configuration]]\nname = \"y\"\n",
     "plan.toml:6: configuration: ", "y has no value for {a}"},
    {"TooManyCombinations",
     plan_text(
         "repetitions = 1\nworkloads = [\"true {a} {b}\"]\n[parameters]\na = [" +
         [] {
           std::string s;
           for (int i = 0; i < 400; i++) s += std::to_string(i) + ",";
           return s;
         }() +
         "]\nb = [" +
         [] {
           std::string s;
           for (int i = 0; i < 400; i++) s += std::to_string(i) + ",";
           return s;
         }() +
         "]\n"),
     "plan.toml:2: workloads: ", "more than 100000"},
    {"UnknownOrder", plan_text(kStart + "order = \"random\"\n"), "plan.toml:3: order: ", "none of blocks, sequence"},
    {"NegativeSeed", plan_text(kStart + "seed = -5\n"), "plan.toml:3: seed: ", "-5"},
    {"NoTime", plan_text(kStart + "time_limit = \"5 parsecs\"\n"), "plan.toml:3: time_limit: ", "not a time"},
    {"ZeroTime", plan_text(kStart + "time_limit = \"0s\"\n"), "plan.toml:3: time_limit: ", "greater than 0"},
    {"NegativePause", plan_text(kStart + "pause = -1\n"), "plan.toml:3: pause: ", "greater than 0"},
    {"PauseAsTruth", plan_text(kStart + "pause = true\n"), "plan.toml:3: pause: ", "a time such as"},
    {"MissingBefore", plan_text(kStart + "before = \"no-such-program\"\n"), "plan.toml:3: before: ", "no-such-program"},
    {"MissingAfter", plan_text(kStart + "after = [\"no-such-program\", \"x\"]\n"),
     "plan.toml:3: after: ", "no-such-program"},
    {"BeforeAsNumber", plan_text(kStart + "before = 3\n"), "plan.toml:3: before: ", "shell words"},
    {"NegativeRetries", plan_text(kStart + "retries = -1\n"), "plan.toml:3: retries: ", "-1"},
    {"StopAsNumber", plan_text(kStart + "stop = 0.02\n"), "plan.toml:3: stop: ", "a table"},
    {"StopWithoutWithin", plan_text(kStart + "stop = {at_most = 20}\n"), "plan.toml:3: stop.within: ", "missing"},
    {"StopTooEarly", plan_text(kStart + "stop = {within = \"2 %\", at_least = 3, at_most = 20}\n"),
     "plan.toml:3: stop.at_least: ", "3 is not from 8"},
    {"StopWithoutRoom", plan_text(kStart + "stop = {within = \"2 %\"}\n"), "plan.toml:3: stop: ", "at_most = 3"},
    {"StopInSequence", plan_text(kStart + "order = \"sequence\"\nstop = {within = \"2 %\", at_most = 20}\n"),
     "plan.toml:4: stop: ", "remove order"},
    {"NoFigure", plan_text(kStart + "question = [\"wall\"]\n"), "plan.toml:3: question: ", "did you mean wall_s?"},
    {"FigureTwice", plan_text(kStart + "question = [\"wall_s\", \"wall_s\"]\n"), "plan.toml:3: question: ", "twice"},
    {"FigureOfNoTrace", kStart + "question = \"io_s\"\n[[configuration]]\nname = \"dry\"\ndry = true\n",
     "plan.toml:3: question: ", "dry"},
    {"MarginAsPercent", plan_text(kStart + "margin = 3\n"), "plan.toml:3: margin: ", "fraction"},
    {"MarginWithoutNumber", plan_text(kStart + "margin = \"little\"\n"), "plan.toml:3: margin: ", "fraction"},
    {"MarginNotFinite", plan_text(kStart + "margin = nan\n"), "plan.toml:3: margin: ", "fraction"},
    {"MissingInput", plan_text(kStart + "input = \"no-such-file\"\n"),
     "plan.toml:3: input: ", "cannot read no-such-file"},
    {"FolderAsInput", plan_text(kStart + "input = \"/etc\"\n"), "plan.toml:3: input: ", "/etc"},
    {"ConfigurationAsTable", kStart + "[configuration]\nname = \"x\"\n",
     "plan.toml:3: configuration: ", "[[configuration]]"},
    {"NoConfigurations", "configuration = []\n" + kStart, "plan.toml:1: configuration: ", "[[configuration]]"},
    {"SameNameTwice", configured("[[configuration]]\nname = \"one\"\n"), "plan.toml:6: configuration.name: ", "line 4"},
    {"NameWithSlash", kStart + "[[configuration]]\nname = \"a/b\"\n", "plan.toml:4: configuration.name: ", "folders"},
    {"NameWithDot", kStart + "[[configuration]]\nname = \"a.b\"\n", "plan.toml:4: configuration.name: ", "folders"},
    {"NameOfParent", kStart + "[[configuration]]\nname = \"..\"\n", "plan.toml:4: configuration.name: ", "folders"},
    {"NameWithBlank", kStart + "[[configuration]]\nname = \"a b\"\n", "plan.toml:4: configuration.name: ", "folders"},
    {"NameWithColon", kStart + "[[configuration]]\nname = \"a:b\"\n", "plan.toml:4: configuration.name: ", "folders"},
    {"NameLikeOption", kStart + "[[configuration]]\nname = \"-a\"\n", "plan.toml:4: configuration.name: ", "folders"},
    {"NameNotAscii", kStart + "[[configuration]]\nname = \"größe\"\n", "plan.toml:4: configuration.name: ", "folders"},
    {"LongName", kStart + "[[configuration]]\nname = \"" + std::string(300, 'a') + "\"\n",
     "plan.toml:4: configuration.name: ", "folders"},
    {"EmptyName", kStart + "[[configuration]]\nname = \"\"\n", "plan.toml:4: configuration.name: ", "empty"},
    {"NameAsNumber", kStart + "[[configuration]]\nname = 5\n", "plan.toml:4: configuration.name: ", "a text"},
    {"UnknownOption", configured("options = \"--kprobe\"\n"),
     "plan.toml:5: configuration.options: ", "did you mean --kprobes?"},
    {"ValueOfOptionApart", configured("options = \"--kprobes block\"\n"),
     "plan.toml:5: configuration.options: ", "block is no option"},
    {"WrongValueOfOption", configured("options = [\"--alloc-min\", \"much\"]\n"),
     "plan.toml:5: configuration.options: ", "--alloc-min"},
    {"OptionsThatContradict", configured("options = \"--preload=allocs --fold 10us\"\n"),
     "plan.toml:5: configuration.options: ", "--fold"},
    {"FolderOfRun", configured("options = \"-o x\"\n"), "plan.toml:5: configuration.options: ", "-o"},
    {"Attaching", configured("options = \"--kprobes --system\"\n"), "plan.toml:5: configuration.options: ", "--system"},
    {"DeferredMerge", configured("options = \"--defer-merge\"\n"),
     "plan.toml:5: configuration.options: ", "--defer-merge"},
    {"HelpAsOption", configured("options = \"--help\"\n"), "plan.toml:5: configuration.options: ", "--help"},
    {"CommandAmongOptions", configured("options = \"--kprobes -- true\"\n"),
     "plan.toml:5: configuration.options: ", "--"},
    {"OptionsOfDryRuns", configured("dry = true\noptions = \"--kprobes\"\n"),
     "plan.toml:6: configuration.options: ", "dry"},
    {"DryAsText", configured("dry = \"yes\"\n"), "plan.toml:5: configuration.dry: ", "true or false"},
    {"NoCpu", configured("cpus = \"0,8000\"\n"), "plan.toml:5: configuration.cpus: ", "CPU 8000 does not exist"},
    {"NoListOfCpus", configured("cpus = \"0-\"\n"), "plan.toml:5: configuration.cpus: ", "no list"},
    {"CpusBackwards", configured("cpus = \"1-0\"\n"), "plan.toml:5: configuration.cpus: ", "no list"},
    {"NegativeCpu", configured("cpus = -1\n"), "plan.toml:5: configuration.cpus: ", "no list"},
    {"CpusAsArray", configured("cpus = [0]\n"), "plan.toml:5: configuration.cpus: ", "a list such as"},
    {"NoNode", configured("cpu_node = 1000\n"), "plan.toml:5: configuration.cpu_node: ", "node"},
    {"NoMemoryNode", configured("mem_node = \"1000\"\n"), "plan.toml:5: configuration.mem_node: ", "node"},
    {"NoCpuInOptions", configured("options = \"--cpus 8000\"\n"),
     "plan.toml:5: configuration.options: ", "CPU 8000 does not exist"},
    {"CpusTwice", configured("options = \"--cpus 0\"\ncpus = 0\n"), "plan.toml:5: configuration.options: ", "--cpus"},
    {"UnknownCache", configured("cache = \"hot\"\n"), "plan.toml:5: configuration.cache: ", "none of cold, warm"},
    {"EnvironmentAsText", configured("environment = \"A=1\"\n"), "plan.toml:5: configuration.environment: ", "a table"},
    {"VariableWithEqualsSign", configured("environment = {\"A=B\" = 1}\n"),
     "plan.toml:5: configuration.environment: ", "A=B"},
    {"VariableAsArray", configured("[configuration.environment]\nA = [1]\n"),
     "plan.toml:6: configuration.environment.A: ", "one text or number"},
    {"ParametersAsArray", configured("parameters = [1]\n"), "plan.toml:5: configuration.parameters: ", "a table"},
    {"ParameterWithTwoValues", configured("parameters = {a = [1, 2]}\n"),
     "plan.toml:5: configuration.parameters.a: ", "one text or number"},
};

class BadPlans : public testing::TestWithParam<BadPlan> {};

TEST_P(BadPlans, GiveOneLineWithItsPlace) {
  const std::vector<std::string> faults = faults_of(GetParam().text);
  ASSERT_EQ(faults.size(), 1u) << testing::PrintToString(faults);
  EXPECT_TRUE(faults[0].starts_with(GetParam().begins)) << faults[0];
  EXPECT_NE(faults[0].find(GetParam().contains, std::string(GetParam().begins).size()), std::string::npos) << faults[0];
  EXPECT_EQ(faults[0].find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, BadPlans, testing::ValuesIn(kBadPlans),
                         [](const auto& plan) { return std::string(plan.param.name); });

TEST(bad_plans, EveryFaultHasItsOwnLineInTheOrderOfTheFile) {
  const auto faults = faults_of(
      "repetitions = 0\nworkloads = [\"true {a}\"]\norder = \"x\"\n[[configuration]]\nname = \"a\"\ncpus = "
      "true\nnonsense = 1\n");
  ASSERT_EQ(faults.size(), 4u) << testing::PrintToString(faults);
  EXPECT_TRUE(faults[0].starts_with("plan.toml:1: repetitions: ")) << faults[0];
  EXPECT_TRUE(faults[1].starts_with("plan.toml:3: order: ")) << faults[1];
  EXPECT_TRUE(faults[2].starts_with("plan.toml:6: configuration.cpus: ")) << faults[2];
  EXPECT_TRUE(faults[3].starts_with("plan.toml:7: configuration.nonsense: ")) << faults[3];
}

TEST(bad_plans, NamesCannotSteerTheTerminal) {
  const auto faults = faults_of(plan_text("repetitions = 3\nworkloads = [\"\\u001b[31mred\"]\n"));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].find('\033'), std::string::npos) << faults[0];
}

}  // namespace
}  // namespace mlrun::sweep
