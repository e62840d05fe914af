// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/workload_list.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "runner/report/text/text_style.h"
#include "runner/sweep/plan/named_values.h"
#include "runner/util/similar.h"

namespace mlrun::sweep {

namespace {

constexpr size_t kWorkloadsMax = 100'000;

// The command as typed into a shell, with {names} that have no value.
std::string key_text(const Words& words, const Parameters& values) {
  std::string key;
  for (const std::string& word : words) {
    const std::string filled = with_values(word, values);
    std::string plain = filled;
    for (const std::string& name : names_in({filled})) {
      const std::string braced = "{" + name + "}";
      for (size_t at = plain.find(braced); at != std::string::npos; at = plain.find(braced))
        plain.replace(at, braced.size(), "_");
    }
    const bool is_plain = report::shell_word(plain) == plain;
    key += (key.empty() ? "" : " ") + (is_plain ? filled : report::shell_word(filled));
  }
  return key;
}

class Lister {
 public:
  explicit Lister(Draft& draft) : draft_(draft) {
    for (const ConfigurationDraft& configuration : draft.configurations) {
      for (const auto& [name, value] : configuration.values.parameters) set_by_configurations_.insert(name);
    }
    for (const ParameterDraft& parameter : draft.parameters) {
      matrix_[parameter.name] = &parameter.values;
      if (parameter.values.size() == 1 && set_by_configurations_.contains(parameter.name)) {
        draft.plan.defaults[parameter.name] = parameter.values.front();
      }
    }
  }

  void list() {
    for (const WorkloadDraft& workload : draft_.workloads) add_workload(workload);
    report_unused();
  }

 private:
  void add_workload(const WorkloadDraft& workload) {
    const std::set<std::string> names = names_in(workload.words);
    used_.insert(names.begin(), names.end());
    if (report_unknown(workload, names)) return;
    for (const ConfigurationDraft& configuration : draft_.configurations) {
      std::vector<std::string> chosen;  // names for which this configuration gets values of the matrix
      for (const ParameterDraft& parameter : draft_.parameters) {
        const bool is_own = configuration.values.parameters.contains(parameter.name);
        if (names.contains(parameter.name) && !is_own && !draft_.plan.defaults.contains(parameter.name)) {
          chosen.push_back(parameter.name);
        }
      }
      for (const std::string& name : names) {
        if (matrix_.contains(name) || configuration.values.parameters.contains(name)) continue;
        draft_.faults.add(configuration.place_of("parameters"),
                          fmt::format("{} has no value for {{{}}} of '{}'; add it here, or to [parameters]",
                                      configuration.values.name, name, workload.text));
      }
      Parameters values;
      add_combinations(workload, chosen, 0, values);
    }
  }

  bool report_unknown(const WorkloadDraft& workload, const std::set<std::string>& names) {
    bool any = false;
    for (const std::string& name : names) {
      if (matrix_.contains(name) || set_by_configurations_.contains(name)) continue;
      std::vector<std::string> known(set_by_configurations_.begin(), set_by_configurations_.end());
      for (const auto& [one, values] : matrix_) known.push_back(one);
      const std::string meant = util::most_similar(name, known);
      used_.insert(meant);  // so that the name that was probably meant is not reported as unused
      draft_.faults.add(
          workload.place,
          fmt::format("{{{}}} has no value: [parameters] does not have it{} (the text {{{}}} is written {{{{{}}}}})",
                      name, meant.empty() ? "" : "; did you mean {" + meant + "}?", name, name));
      any = true;
    }
    return any;
  }

  void add_combinations(const WorkloadDraft& workload, const std::vector<std::string>& chosen, size_t at,
                        Parameters& values) {
    if (draft_.plan.workloads.size() > kWorkloadsMax) return;
    if (at == chosen.size()) return add(workload, values);
    for (const std::string& value : *matrix_.at(chosen[at])) {
      values[chosen[at]] = value;
      add_combinations(workload, chosen, at + 1, values);
    }
    values.erase(chosen[at]);
  }

  void add(const WorkloadDraft& workload, const Parameters& values) {
    const std::string key = key_text(workload.words, values);
    const auto [found, is_new] = by_key_.emplace(key, &workload);
    if (is_new) {
      draft_.plan.workloads.push_back({key, workload.text, values});
    } else if (found->second != &workload && reported_.insert(&workload).second) {
      draft_.faults.add(workload.place, fmt::format("'{}' is given twice: leave one out", key));
    }
    if (draft_.plan.workloads.size() == kWorkloadsMax + 1) {
      draft_.faults.add(workload.place, fmt::format("the matrix gives more than {} commands", kWorkloadsMax));
    }
  }

  void report_unused() {
    for (const ParameterDraft& parameter : draft_.parameters) {
      if (used_.contains(parameter.name)) continue;
      draft_.faults.add(parameter.place, fmt::format("no command uses it: write {{{}}} in a workload", parameter.name));
    }
    for (const ConfigurationDraft& configuration : draft_.configurations) {
      for (const auto& [name, value] : configuration.values.parameters) {
        if (used_.contains(name)) continue;
        draft_.faults.add(configuration.place_of("parameters").below(name),
                          fmt::format("no command uses it: write {{{}}} in a workload", name));
      }
    }
  }

  Draft& draft_;
  std::map<std::string, const std::vector<std::string>*> matrix_;
  std::set<std::string> set_by_configurations_, used_;
  std::map<std::string, const WorkloadDraft*> by_key_;
  std::set<const WorkloadDraft*> reported_;
};

}  // namespace

void list_workloads(Draft& draft) { Lister(draft).list(); }

}  // namespace mlrun::sweep
