// SPDX-License-Identifier: Apache-2.0
// Types of CUDA that CUPTI's headers name, enough to compile them without CUDA's own.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUaccessPolicyWindow_st CUaccessPolicyWindow;
typedef union CUstreamAttrValue_union CUstreamAttrValue;
typedef int CUdevice, CUgraphNodeType, CUstreamAttrID, CUdevice_attribute;
typedef struct CUuuid_st {
  char bytes[16];
} CUuuid;
