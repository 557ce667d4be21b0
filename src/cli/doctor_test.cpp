// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <gmock/gmock.h>

#include <cstdio>

#include "base/file.h"
#include "base/strings.h"
#include "cli/completion.h"

namespace meridian::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A machine where nothing is wrong.
Facts healthy() {
  Facts facts;
  facts.data = "/data";
  facts.data_exists = facts.data_writable = facts.environment_set = facts.init_found = true;
  facts.free_bytes = 100ull << 30;
  facts.aws_version = "2.15.0";
  facts.python = "/usr/bin/python3";
  facts.boto3_version = "1.34.1";
  facts.cgroups = Facts::Cgroups::v2;
  facts.cgroups_writable = facts.outward_network = true;
  facts.torch_version = "1.13.0";
  facts.mpirun = facts.mpi4py = facts.podman = true;
  return facts;
}

auto bad(const std::string& what) {
  return AllOf(Field(&Finding::level, Level::bad), Field(&Finding::what, HasSubstr(what)),
               Field(&Finding::mend, Not(IsEmpty())));
}
auto note(const std::string& what, const std::string& mend) {
  return AllOf(Field(&Finding::level, Level::note), Field(&Finding::what, HasSubstr(what)),
               Field(&Finding::mend, HasSubstr(mend)));
}

TEST(Doctor, AHealthyMachineHasNothingToMend) {
  for (const auto& finding : judge(healthy())) {
    EXPECT_EQ(finding.level, Level::good) << finding.what;
    EXPECT_EQ(finding.mend, "") << finding.what;
  }
}

TEST(Doctor, WhatStopsEverythingIsBad) {
  auto facts = healthy();
  facts.daemon_error = "no Meridian runs on /data.";
  facts.init_found = false;
  facts.namespace_error = "unshare: Operation not permitted";
  facts.free_bytes = 1;
  facts.data_writable = false;
  const auto findings = judge(facts);
  EXPECT_THAT(findings, Contains(bad("no Meridian runs")));
  EXPECT_THAT(findings, Contains(bad("meridian-init")));
  EXPECT_THAT(findings, Contains(bad("Operation not permitted")));
  EXPECT_THAT(findings, Contains(bad("1 B are free")));
  EXPECT_THAT(findings, Contains(bad("not writable")));
}

TEST(Doctor, AClientThatWouldMissTheEndpointIsNamed) {
  auto facts = healthy();
  facts.aws_version = "2.9.19";
  facts.boto3_version = "1.26.27";
  EXPECT_THAT(judge(facts), Contains(note("aws 2.9.19 ignores AWS_ENDPOINT_URL", "meridian env")));
  EXPECT_THAT(judge(facts), Contains(note("boto3 1.26.27", "endpoint_url=")));
  facts.wrapper_first = true;
  EXPECT_THAT(judge(facts), Not(Contains(note("aws 2.9.19", ""))));
}

TEST(Doctor, MissingProgramsComeWithTheirPackage) {
  auto facts = healthy();
  facts.torch_version = "";
  facts.mpirun = facts.podman = false;
  const auto findings = judge(facts);
  EXPECT_THAT(findings, Contains(note("torch", "apt-get install python3-torch")));
  EXPECT_THAT(findings, Contains(note("mpirun", "apt-get install openmpi-bin")));
  EXPECT_THAT(findings, Contains(note("podman", "apt-get install podman")));
}

TEST(Doctor, FastFileIsToldAsWhatItIs) {
  auto facts = healthy();
  EXPECT_THAT(judge(facts), Contains(Field(&Finding::what, HasSubstr("read on demand"))));
  facts.files_error = "cannot open /dev/fuse: Permission denied";
  EXPECT_THAT(judge(facts),
              Contains(note("staged completely before the start, as File (cannot open "
                            "/dev/fuse: Permission denied)",
                            "/dev/fuse")));
}

TEST(Doctor, KnowsWhichVersionsReadTheEndpoint) {
  EXPECT_FALSE(aws_reads_endpoint("2.9.19"));
  EXPECT_FALSE(aws_reads_endpoint("1.28.9"));
  EXPECT_TRUE(aws_reads_endpoint("2.13.0"));
  EXPECT_TRUE(aws_reads_endpoint("1.29.1"));
  EXPECT_FALSE(aws_reads_endpoint(""));
  EXPECT_FALSE(boto3_reads_endpoint("1.26.27"));
  EXPECT_TRUE(boto3_reads_endpoint("1.28.0"));
}

// What bash offers after these words.
std::string offers(const std::string& words, const std::string& current) {
  const CommandTree tree{"meridian",
                         "",
                         {"--data"},
                         {{"train", "", {"--script", "--source"}, {}},
                          {"keys", "", {}, {{"add", "", {"--role"}, {}}}}}};
  const base::TempDir directory;
  const auto file = directory.path() / "script";
  base::write_file(file, bash_completion(tree) + "COMP_WORDS=(meridian " + words + " '" + current +
                             "'); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _meridian; "
                             "echo \"${COMPREPLY[*]}\"\n");
  std::string output;
  FILE* pipe = popen(("bash " + file.string() + " 2>&1").c_str(), "r");
  char buffer[512];
  while (const auto size = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, size);
  pclose(pipe);
  return std::string(base::trim(output));
}

TEST(Completion, BashOffersCommandsAndTheirOptions) {
  EXPECT_EQ(offers("", "tr"), "train");
  EXPECT_EQ(offers("train", "--s"), "--script --source");
  EXPECT_EQ(offers("keys", "a"), "add");
  EXPECT_EQ(offers("keys add", "--"), "--role");
  EXPECT_EQ(offers("train --script x", "--so"), "--source");
}

}  // namespace
}  // namespace meridian::cli
