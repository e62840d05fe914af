// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/remote_table.h"

#include <linux/fuse.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/parquet/row_columns.h"
#include "runner/trace/files/device_number.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using tables::kDelta;
using tables::kSplit;

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

int32_t number_of(uint32_t number) { return static_cast<int32_t>(std::min<uint32_t>(number, INT32_MAX)); }

// A number of the record; -1: unknown.
int64_t known_number(uint64_t number) { return number > INT64_MAX ? -1 : static_cast<int64_t>(number); }

constexpr std::array kProtocols = {"9p", "nfs", "fuse", "other"};

}  // namespace

std::string remote_op_name(const mlrun_remote& record) {
  if (record.protocol == MLRUN_REMOTE_9P) return name_in(k9pNames, record.code);
  if (record.protocol == MLRUN_REMOTE_FUSE) return name_in(kFuseNames, record.code);
  std::string name = util::field_text(record.name);
  if (name.empty()) return fmt::format("type {}", record.code);
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

struct RemoteColumns {
  static constexpr const char* kTable = "remote";
  static void visit(auto& visitor, const RemoteRow& row, const GroupEnds& ends) {
    const mlrun_remote& record = row.record;
    const bool is_rpc = record.protocol == MLRUN_REMOTE_RPC;
    visit_span(visitor, row, ends);
    visit_owner(visitor, row.origin);
    visitor.label("protocol", std::min<size_t>(record.protocol, MLRUN_REMOTE_PROTOCOLS), kProtocols);
    visitor("op", remote_op_name(record));
    visitor.optional("op_id", record.operation, 0, kDelta);
    visitor.optional("call_id", row.call_id, 0, kDelta);
    visitor.optional("dev", tables::value_if(record.inode != 0, stat_device(record.device)));
    visitor.optional("ino", record.inode, 0);
    visitor.optional("file_id", row.file_id, 0);
    visitor("err", record.error < 0 ? -std::max(record.error, -INT32_MAX) : 0);
    visitor.optional("server", util::field_text(record.server));
    visitor.optional("program", util::field_text(record.program));
    visitor.optional("version", tables::value_if(is_rpc, number_of(record.version)));
    visitor.optional("sent_bytes", known_number(record.sent), -1);
    visitor.optional("received_bytes", known_number(record.received), -1);
    visitor.optional("queue_ns", known_number(record.queue_ns), -1, kSplit);
    visitor.optional("rtt_ns", known_number(record.rtt_ns), -1, kSplit);
    visitor.optional("transmissions", number_of(record.transmissions), 0);
  }
};

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::RemoteColumns, mlrun::trace::RemoteRow, mlrun::trace::GroupEnds>;
