// Files made from objects: each appears whole under its name, or not at all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "s3/objects.h"

namespace meridian::s3 {

// A reflink with an inode of its own. False where the file system has none.
bool clone_file(const std::filesystem::path& from, const std::filesystem::path& to,
                base::Timestamp modified);
// The object's bytes in a file of its own, its modification time the object's.
void copy_object(Objects& objects, const std::string& bucket, const ObjectInfo& info,
                 const std::filesystem::path& to);
// All of the bytes at that place of the file.
void write_at(int file, std::uint64_t offset, std::string_view bytes);
void write_body(net::BodyReader& body, const std::filesystem::path& to, base::Timestamp modified);

}  // namespace meridian::s3
