// A job's own Python packages.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace meridian::run {

// What the code directory asks for: requirements.txt, and the code itself when it has a setup.py.
// Makes a virtual environment that also sees the system's packages, installs both into it, puts it
// first on this process's PATH and returns its interpreter; `python` when nothing is asked for.
// Error(failed_precondition) holds the last thing that pip said.
std::string install_packages(const std::string& python, const std::filesystem::path& code);

// The line of pip's output that says why it failed: the last that begins with ERROR, else the last.
std::string pip_reason(std::string_view output);

}  // namespace meridian::run
