// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/stack_kinds.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/util/text.h"

namespace mlrun::blame {

namespace {

using Parts = std::span<const std::string_view>;

constexpr std::string_view kImports[] = {"importlib._bootstrap", "<frozen zipimport"};
constexpr std::string_view kCheckpoints[] = {
    "torch/serialization.py",       "torch/distributed/checkpoint",     "safetensors",        "orbax",
    "tensorflow/python/checkpoint", "tensorflow/python/training/saver", "joblib/numpy_pickle"};
constexpr std::string_view kPickles[] = {"multiprocessing/reduction.py", "multiprocessing/connection.py",
                                         "multiprocessing/queues.py", "multiprocessing/resource_sharer.py",
                                         "torch/multiprocessing/reductions.py"};
constexpr std::string_view kLoaders[] = {"torch/utils/data/",
                                         "torchdata/",
                                         "webdataset/",
                                         "/datasets/",
                                         "litdata/",
                                         "streaming/base",
                                         "ffcv/",
                                         "dali/plugin",
                                         "tensorflow/python/data",
                                         "grain/",
                                         "spdl/"};
constexpr std::string_view kLoggers[] = {"/logging/", "tensorboard", "wandb", "mlflow"};
// These packages both read and write: data, logs or results.
constexpr std::string_view kTexts[] = {"/json/", "/csv.py", "/pandas/io/"};
constexpr std::string_view kReaders[] = {
    "/json/",   "/csv.py",      "/gzip.py",      "/bz2.py",         "/lzma.py",     "/_compression.py",
    "/zipfile", "/tarfile.py",  "/PIL/",         "/h5py/",          "/pyarrow/",    "/pandas/io/",
    "/npyio",   "/_npyio_impl", "/soundfile.py", "/torchvision/io", "/torchaudio/", "/urllib/request.py"};
constexpr std::string_view kReads[] = {"read", "load", "open", "next", "decode", "iter", "parse", "extract"};
constexpr std::string_view kWrites[] = {"write", "dump", "encode", "save", "to_csv"};
constexpr std::string_view kInstalled[] = {"site-packages", "dist-packages", "/lib/python3", "/usr/lib", "<frozen"};
constexpr std::string_view kForks[] = {"multiprocessing/popen_fork.py"};
constexpr std::string_view kStarters[] = {"multiprocessing/popen_"}, kFetchers[] = {"torch/utils/data/"};
// Python's own functions on file names.
constexpr std::string_view kPaths[] = {"pathlib", "posixpath", "genericpath", "/glob.py", "/fnmatch.py"};
constexpr std::string_view kSetMethods[] = {"__getitem__", "__getitems__", "__iter__"};
// A model may also have a method named decode, and a script may be in a folder named datasets.
constexpr std::string_view kLayers[] = {"torch/nn/"}, kDatasets[] = {"/datasets/"};
constexpr std::string_view kModelCode[] = {"torch/nn/",     "torch/optim/", "torch/autograd/",
                                           "torch/_tensor", "keras/",       "jax/"};
constexpr std::string_view kFetches[] = {"_utils/fetch.py", "__getitem__"};
// Names that programs give to their own loader functions. Functions that load a model's state are excluded.
constexpr std::string_view kModels[] = {"model", "state", "checkpoint", "weight", "config"};
constexpr std::string_view kBatchNames[] = {"collate",     "next_batch", "get_batch",   "make_batch",
                                            "load_batch",  "read_batch", "fetch_batch", "load_sample",
                                            "read_sample", "load_image", "read_image",  "batches"};
constexpr std::string_view kLoadNames[] = {"__getitem__", "__next__", "load", "read", "fetch", "decode"};
// Frames of pickling, loggers and file readers count only near the top of the stack: frames of multiprocessing further out only started the process.
constexpr size_t kInnermostPickle = 6, kInnermostLogger = 4, kInnermostReader = 6;

bool has_any(std::string_view text, Parts parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

bool any_source(const std::vector<Frame>& frames, size_t most, Parts parts) {
  const size_t count = std::min(most, frames.size());
  return std::any_of(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](const Frame& frame) { return has_any(frame.source, parts); });
}

// Splits `Class.method`; a function has an empty class.
std::pair<std::string_view, std::string_view> parts_of(std::string_view function) {
  const size_t dot = function.rfind('.');
  if (dot == std::string_view::npos) return {{}, function};
  return {function.substr(0, dot), function.substr(dot + 1)};
}

bool names_loading(std::string_view function) {
  const std::string_view name = parts_of(function).second;
  if (has_any(name, kModels)) return false;
  if (has_any(name, kBatchNames)) return true;
  return util::is_one_of(name, kLoadNames);
}

bool loads_data(const std::vector<Frame>& frames) {
  const bool in_layers = any_source(frames, frames.size(), kLayers);
  const bool in_folder = !frames.empty() && has_any(frames.back().source, kDatasets);
  return std::any_of(frames.begin(), frames.end(), [&](const Frame& frame) {
    if (has_any(frame.source, kLoaders) && !(in_folder && has_any(frame.source, kDatasets))) return true;
    return !has_any(frame.source, kInstalled) && names_loading(frame.function) &&
           !(in_layers && frame.function.ends_with("decode"));
  });
}

// Whether one of the `most` innermost frames has such a source file and such a function name.
bool any_function(const std::vector<Frame>& frames, size_t most, Parts sources, Parts functions) {
  const size_t count = std::min(most, frames.size());
  return std::any_of(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count), [&](const Frame& frame) {
    return has_any(frame.source, sources) && has_any(frame.function, functions);
  });
}

bool reads_files(const std::vector<Frame>& frames) {
  return any_function(frames, kInnermostReader, kReaders, kReads) &&
         !any_function(frames, kInnermostReader, kReaders, kWrites);
}

// Whether torch.load or the like runs. It may also be used to load samples.
bool reads_checkpoint(const std::vector<Frame>& frames) {
  return any_function(frames, frames.size(), kCheckpoints, kReads) &&
         !any_function(frames, frames.size(), kCheckpoints, kWrites);
}

StackKind kind_of(const std::vector<Frame>& frames) {
  if (any_source(frames, frames.size(), kImports)) return StackKind::kImport;
  if (any_source(frames, frames.size(), kCheckpoints))
    return reads_checkpoint(frames) && loads_data(frames) ? StackKind::kLoader : StackKind::kCheckpoint;
  const bool fetches = std::any_of(frames.begin(), frames.end(), [](const Frame& frame) {
    return has_any(frame.source, kFetches) || has_any(frame.function, kFetches);
  });
  if (!fetches && any_source(frames, kInnermostPickle, kPickles)) return StackKind::kPickle;
  if (loads_data(frames)) return StackKind::kLoader;
  if (any_source(frames, kInnermostLogger, kLoggers)) return StackKind::kLogging;
  if (any_function(frames, kInnermostLogger, kTexts, kWrites)) return StackKind::kLogging;
  if (reads_files(frames)) return StackKind::kLoader;
  return StackKind::kOwn;
}

std::string text_of(const Frame& frame) {
  const size_t slash = frame.source.rfind('/');
  return fmt::format("{}:{} {}", slash == std::string::npos ? frame.source : frame.source.substr(slash + 1), frame.line,
                     frame.function);
}

// The innermost frame outside of installed packages.
const Frame* own_frame(const std::vector<Frame>& frames) {
  const auto own = std::find_if(frames.begin(), frames.end(), [](const Frame& frame) {
    return !frame.source.empty() && !has_any(frame.source, kInstalled);
  });
  return own == frames.end() || own->function == "<module>" ? nullptr : &*own;
}

std::string name_of_function(const Frame& frame) { return frame.source + ":" + frame.function; }

// Empty if the frame is not in a method.
std::string name_of_class(const Frame& frame) {
  const std::string_view of = parts_of(frame.function).first;
  return of.empty() ? std::string() : frame.source + ":" + std::string(of);
}

// Whether the innermost line outside of installed packages calls a function on file names.
bool calls_names(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    if (!has_any(frame.source, kInstalled)) return false;
    if (has_any(frame.source, kPaths)) return true;
  }
  return false;
}

// A started process has the frames of its start outside of its own frames: the search ends there.
bool makes_object(const std::vector<Frame>& frames) {
  if (any_source(frames, frames.size(), kModelCode)) return false;
  for (const Frame& frame : frames) {
    if (frame.function.ends_with("._bootstrap")) return false;
    const bool is_own = !frame.source.empty() && !has_any(frame.source, kInstalled);
    if (has_any(frame.source, kStarters) || frame.function.ends_with("DataLoaderIter.__init__")) return true;
    if (is_own && parts_of(frame.function).second == "__init__") return true;
  }
  return false;
}

// A forked worker has the frames of its parent outside of its own frames: the search ends there.
std::string line_of(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    if (has_any(frame.source, kForks)) return text_of(frames.front());
    if (!frame.source.empty() && !has_any(frame.source, kInstalled)) return text_of(frame);
  }
  return {};
}

}  // namespace

// A function counts as loading, whatever its name, if at least 10 and a quarter of its samples read files by kReaders, and none runs
// kModelCode.
void StackKinds::find_readers() {
  constexpr int64_t kLeast = 10, kShare = 4;
  struct Use {
    int64_t all = 0, reads = 0, layers = 0;
  };
  std::unordered_map<std::string, Use> uses;
  for (const Thread& thread : timeline_.threads) {
    for (const StackSample& sample : thread.samples) {
      const auto frames = timeline_.stacks.find(sample.stack_id);
      const Frame* own = frames == timeline_.stacks.end() ? nullptr : own_frame(frames->second);
      if (own == nullptr) continue;
      Use& use = uses[name_of_function(*own)];
      use.all += sample.count;
      use.reads += reads_files(frames->second) ? sample.count : 0;
      use.layers += any_source(frames->second, frames->second.size(), kModelCode) ? sample.count : 0;
    }
  }
  for (const auto& [name, use] : uses) {
    if (use.reads >= kLeast && kShare * use.reads >= use.all && use.layers == 0) readers_.insert(name);
  }
}

// Finds the classes whose methods a DataLoader calls to get samples or their order.
void StackKinds::find_sets() {
  for (const auto& [stack_id, frames] : timeline_.stacks) {
    for (size_t i = 0; i + 1 < frames.size(); ++i) {
      const bool fetched = has_any(frames[i + 1].source, kFetchers) && !has_any(frames[i].source, kInstalled) &&
                           util::is_one_of(parts_of(frames[i].function).second, kSetMethods);
      if (fetched) sets_.insert(name_of_class(frames[i]));
    }
  }
  sets_.erase("");
}

// Judges a stack by what other stacks show: if a DataLoader takes samples from a class, all methods of the class load.
bool StackKinds::is_of_loader(const std::vector<Frame>& frames) const {
  const Frame* own = own_frame(frames);
  if (own != nullptr && readers_.contains(name_of_function(*own))) return true;
  return !any_source(frames, frames.size(), kModelCode) &&
         std::any_of(frames.begin(), frames.end(),
                     [&](const Frame& frame) { return sets_.contains(name_of_class(frame)); });
}

const StackKinds::Facts& StackKinds::facts(int32_t stack_id) {
  if (facts_.empty()) {
    find_readers();
    find_sets();
  }
  const auto known = facts_.find(stack_id);
  if (known != facts_.end()) return known->second;
  Facts facts;
  if (const auto frames = timeline_.stacks.find(stack_id); frames != timeline_.stacks.end()) {
    facts = {kind_of(frames->second), line_of(frames->second), makes_object(frames->second),
             calls_names(frames->second)};
    if (facts.kind == StackKind::kOwn && is_of_loader(frames->second)) facts.kind = StackKind::kLoader;
  }
  return facts_.emplace(stack_id, std::move(facts)).first->second;
}

StackKind StackKinds::kind(int32_t stack_id) { return facts(stack_id).kind; }
const std::string& StackKinds::line(int32_t stack_id) { return facts(stack_id).line; }
bool StackKinds::makes(int32_t stack_id) { return facts(stack_id).makes; }
bool StackKinds::is_on_names(int32_t stack_id) { return facts(stack_id).on_names; }

}  // namespace mlrun::blame
