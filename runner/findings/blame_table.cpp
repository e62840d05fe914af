// SPDX-License-Identifier: Apache-2.0
// Table `blame`.
#include <cmath>
#include <vector>

#include "runner/findings/findings.h"
#include "runner/parquet/row_columns.h"

namespace mlrun::findings {

using tables::kDelta;

struct BlameRow {
  const Divided* piece = nullptr;
  Cause cause = Cause::kNone;
  int64_t ns = 0;
  const blame::Thread* thread = nullptr;
  const std::string* line = nullptr;
};

struct BlameColumns {
  static constexpr const char* kTable = "blame";
  static void visit(auto& visitor, const BlameRow& row) {
    static const Divided kNone;
    static const blame::Thread kNobody;
    static const std::string kNoText;
    const Divided& piece = row.piece != nullptr ? *row.piece : kNone;
    const blame::Thread& thread = row.thread != nullptr ? *row.thread : kNobody;
    visitor("ts", piece.start_ns, kDelta);
    visitor("dur", piece.end_ns - piece.start_ns);
    visitor("ns", row.ns);
    visitor.label("activity", piece.activity, summary::kActivityNames);
    visitor.label("state", piece.state, summary::kStateNames);
    visitor.label("cause", row.cause, kCauseNames);
    visitor("doing", std::string(blame::label_name(piece.label)));
    visitor("hops", static_cast<int32_t>(piece.hops));
    visitor.label("link", piece.link, blame::kLinkNames);
    visitor.optional("proc_id", thread.proc_id, 0);
    visitor.optional("thread_id", thread.thread_id, 0);
    visitor.optional("tid", thread.tid, 0);
    visitor.optional("file_id", piece.away_file_id != 0 ? piece.away_file_id : piece.file_id, 0);
    visitor.optional("python_line", row.line != nullptr ? *row.line : kNoText);
  }
};

Status write_blame(const Context& context, const std::string& folder) {
  std::vector<BlameRow> rows;
  double sum = 0;
  int64_t given = 0;
  const auto& pieces = context.analysis.division.pieces;
  rows.reserve(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    sum += pieces[i].ns();
    BlameRow row{&pieces[i], context.causes[i], std::llround(sum) - given,
                 &context.timeline().thread(pieces[i].thread_id), &context.analysis.lines.text(pieces[i].line)};
    given += row.ns;
    rows.push_back(row);
  }
  return tables::write_rows<BlameColumns>(rows, folder);
}

Status write_no_blame(const std::string& folder) {
  return tables::write_rows<BlameColumns>(std::vector<BlameRow>(), folder);
}

}  // namespace mlrun::findings
