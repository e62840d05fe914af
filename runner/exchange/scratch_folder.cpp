// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/scratch_folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

namespace mlrun::exchange {

namespace {

constexpr int kEndOfWait = SIGUSR2;  // sent to the waiting thread alone, to end its wait

// All scratch folders of this process.
struct Folders {
  std::mutex mutex;
  std::set<std::string> paths;
};
Folders& folders() {
  static Folders all;
  return all;
}

void remove_folder(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// Removes a folder into which other threads still write. OTF2's library creates missing folders; a file in its place stops it.
void replace_folder(const std::string& path) {
  std::error_code ignored;
  const std::string aside = path + ".removed";
  constexpr mode_t kMode = 0600;
  if (const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode); file >= 0) ::close(file);
  if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0) {  // some file systems cannot
    ::unlink(aside.c_str());
    std::filesystem::rename(path, aside, ignored);
  }
  std::filesystem::remove_all(aside, ignored);
}

}  // namespace

ScratchFolder::ScratchFolder() {
  ::sigemptyset(&awaited_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler == SIG_DFL) ::sigaddset(&awaited_, number);  // nohup ignores SIGHUP
  }
  sigset_t blocked = awaited_;
  ::sigaddset(&blocked, kEndOfWait);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

Result<std::unique_ptr<ScratchFolder>> ScratchFolder::make(const std::string& name) {
  std::unique_ptr<ScratchFolder> made(new ScratchFolder());
  std::string path = name + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return fail_errno("create the folder " + path, errno);
  made->path_ = std::move(path);
  {
    const std::lock_guard<std::mutex> lock(folders().mutex);
    folders().paths.insert(made->path_);
  }
  try {
    made->thread_ = std::thread([folder = made.get()] { folder->wait(); });
  } catch (const std::system_error&) {
    ::pthread_sigmask(SIG_SETMASK, &made->before_, nullptr);
  }
  return made;
}

ScratchFolder::~ScratchFolder() {
  if (thread_.joinable()) {
    ::pthread_kill(thread_.native_handle(), kEndOfWait);
    thread_.join();
  }
  if (!path_.empty()) {
    const std::lock_guard<std::mutex> lock(folders().mutex);
    remove_folder(path_);
    folders().paths.erase(path_);
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void ScratchFolder::wait() {
  sigset_t all = awaited_;
  ::sigaddset(&all, kEndOfWait);
  int number = 0;
  if (::sigwait(&all, &number) != 0 || number == kEndOfWait) return;
  const std::lock_guard<std::mutex> lock(folders().mutex);
  for (const std::string& path : folders().paths) replace_folder(path);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, number);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  for (const std::string& path : folders().paths) ::unlink(path.c_str());
  ::raise(number);
}

Error renamed(Error error, const std::string& part, const std::string& whole) {
  for (size_t at = 0; (at = error.text.find(part, at)) != std::string::npos; at += whole.size())
    error.text.replace(at, part.size(), whole);
  return error;
}

}  // namespace mlrun::exchange
