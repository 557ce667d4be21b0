// What a program reads from a Pipe channel in one epoch, as one stream.
//
// Objects follow each other without a mark, or each as one RecordIO record. The records of an
// augmented manifest give their attributes in the order asked for. Order and share are those of
// list_channel for that epoch.
//
//   auto epoch = open_pipe_epoch(objects, source, {.index = 0, .count = 2, .epoch = k});
//   while (auto n = epoch->read(buffer, size)) write(fifo, buffer, n);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "s3/staging.h"

namespace meridian::s3 {

enum class RecordWrapper { none, record_io };

struct PipeEpoch {
  std::size_t index = 0, count = 1;  // which host of how many
  int epoch = 0;
  RecordWrapper wrapper = RecordWrapper::none;
  Decompress decompress = Decompress::none;
};

std::unique_ptr<net::BodyReader> open_pipe_epoch(Objects& objects, const ChannelSource& source,
                                                 const PipeEpoch& settings);

// Magic 0xced7230a, length (both little-endian), payload, zeros up to a multiple of four.
// Source: recordio of dmlc-core, as SageMaker's Pipe mode writes it.
std::string record_io_header(std::uint32_t length);
std::size_t record_io_padding(std::uint64_t length);

}  // namespace meridian::s3
