// SPDX-License-Identifier: Apache-2.0
// The tables of OUT/sweep.sqlite; README.md describes them.
#pragma once

namespace mlrun::sweep {

inline constexpr int kSchemaVersion = 1;

inline constexpr const char* kSchema = R"(
CREATE TABLE sweep (created_realtime_ns INTEGER NOT NULL, looks INTEGER NOT NULL DEFAULT 0,
  keeps_all_traces INTEGER NOT NULL DEFAULT 0);
CREATE TABLE plan (
  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL, json TEXT NOT NULL, added_realtime_ns INTEGER NOT NULL);
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  plan_hash TEXT NOT NULL, configuration TEXT NOT NULL, workload TEXT NOT NULL, block INTEGER NOT NULL, attempt INTEGER NOT NULL,
  position INTEGER NOT NULL, folder TEXT NOT NULL, command TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('planned', 'running', 'done', 'failed', 'timed_out')),
  exit_status INTEGER, started_realtime_ns INTEGER NOT NULL DEFAULT 0, ended_realtime_ns INTEGER NOT NULL DEFAULT 0,
  pid INTEGER NOT NULL DEFAULT 0, start_ticks INTEGER NOT NULL DEFAULT 0,
  supervisor_pid INTEGER NOT NULL DEFAULT 0, supervisor_start_ticks INTEGER NOT NULL DEFAULT 0, boot_id TEXT NOT NULL DEFAULT '',
  failure TEXT NOT NULL DEFAULT '', interrupted INTEGER NOT NULL DEFAULT 0,
  UNIQUE (configuration, workload, block, attempt));
CREATE TABLE helper (
  pid INTEGER NOT NULL, start_ticks INTEGER NOT NULL,
  supervisor_pid INTEGER NOT NULL, supervisor_start_ticks INTEGER NOT NULL, boot_id TEXT NOT NULL);
CREATE INDEX run_by_position ON run (position, attempt);
CREATE TABLE figure (
  run_id INTEGER NOT NULL REFERENCES run, name TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY (run_id, name)) WITHOUT ROWID;
CREATE TABLE machine (
  run_id INTEGER NOT NULL REFERENCES run, name TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY (run_id, name)) WITHOUT ROWID;
CREATE TABLE fact (
  run_id INTEGER NOT NULL REFERENCES run, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run_id, name)) WITHOUT ROWID;
)";

}  // namespace mlrun::sweep
