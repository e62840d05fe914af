// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/file_system_name.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mlrun::trace {

// File systems that usually hold data sets. ext2 and ext3 share ext4's number; its code mounts them too.
std::string file_system_name(uint32_t magic) {
  static constexpr std::array<std::pair<uint32_t, const char*>, 26> kNames = {{
      {0xef53, "ext4"},       {0x58465342, "xfs"},       {0x9123683e, "btrfs"},    {0xca451a4e, "bcachefs"},
      {0xf2f52010, "f2fs"},   {0x2fc12fc1, "zfs"},       {0x794c7630, "overlay"},  {0x01021994, "tmpfs"},
      {0x858458f6, "ramfs"},  {0x958458f6, "hugetlbfs"}, {0x73717368, "squashfs"}, {0xe0f5e1e2, "erofs"},
      {0x9660, "iso9660"},    {0x4d44, "vfat"},          {0x2011bab0, "exfat"},    {0x7366746e, "ntfs3"},
      {0x6969, "nfs"},        {0xff534d42, "cifs"},      {0xfe534d42, "smb3"},     {0x01021997, "9p"},
      {0x65735546, "fuse"},   {0x00c36400, "ceph"},      {0x0bd00bd0, "lustre"},   {0x47504653, "gpfs"},
      {0x19830326, "beegfs"}, {0x7461636f, "ocfs2"},
  }};
  const auto found = std::find_if(kNames.begin(), kNames.end(), [&](const auto& name) { return name.first == magic; });
  return found == kNames.end() ? std::string() : found->second;
}

}  // namespace mlrun::trace
