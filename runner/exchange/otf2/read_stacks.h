// SPDX-License-Identifier: Apache-2.0
// Calling contexts of an OTF2 archive as stacks: each is a region that another one has called.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "runner/exchange/import/trace_maker.h"

namespace mlrun::exchange {

class Otf2Stacks {
 public:
  void define_source(OTF2_SourceCodeLocationRef self, OTF2_StringRef file, uint32_t line) {
    sources_[self] = {file, line};
  }
  void define(OTF2_CallingContextRef self, OTF2_RegionRef region, OTF2_SourceCodeLocationRef source,
              OTF2_CallingContextRef parent) {
    contexts_[self] = {region, source, parent};
  }

  struct Names {
    std::function<std::string(OTF2_RegionRef)> region;
    std::function<std::string(OTF2_StringRef)> text;
  };
  // The stack's number in the trace; 0: `context` is not defined, or there are too many stacks or frames. Requires: everything was defined.
  int32_t stack(OTF2_CallingContextRef context, const Names& names, TraceMaker& to);

 private:
  struct Source {
    OTF2_StringRef file = OTF2_UNDEFINED_STRING;
    uint32_t line = 0;
  };
  struct Context {
    OTF2_RegionRef region = OTF2_UNDEFINED_REGION;
    OTF2_SourceCodeLocationRef source = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
    OTF2_CallingContextRef parent = OTF2_UNDEFINED_CALLING_CONTEXT;
  };

  std::unordered_map<OTF2_SourceCodeLocationRef, Source> sources_;
  std::unordered_map<OTF2_CallingContextRef, Context> contexts_;
  std::unordered_map<OTF2_CallingContextRef, int32_t> known_;
};

}  // namespace mlrun::exchange
