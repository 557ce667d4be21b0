"""Listing, paging, tags and search with 500 jobs on record (issue point A2, cases B).

SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import datetime
import unittest

from botocore.exceptions import ClientError

import harness
import jobs

COUNT = 500


def setUpModule():
    global meridian, sagemaker
    meridian = harness.Daemon().start()
    unittest.addModuleCleanup(meridian.close)
    jobs.ensure_bucket(meridian)
    sagemaker = meridian.client("sagemaker")

    def create(index):
        # Every tenth fails, so that a filter by status has something to find.
        command = "exit 1" if index % 10 == 3 else "exit 0"
        sagemaker.create_training_job(**jobs.request(
            f"job-{index:03}", None, AlgorithmSpecification={"ContainerEntrypoint": ["/bin/sh", "-c", command]},
            Tags=[{"Key": "parity", "Value": "odd" if index % 2 else "even"}]))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(create, range(COUNT)))
    # The filter applies after MaxResults, as on AWS: only all pages together say that none is left.
    harness.wait_for(lambda: not all_names(StatusEquals="InProgress"), 300, "the end of all jobs")



def all_names(**query):
    names = []
    for page in sagemaker.get_paginator("list_training_jobs").paginate(**query):
        names += [j["TrainingJobName"] for j in page["TrainingJobSummaries"]]
    return names


EXPECTED = [f"job-{i:03}" for i in range(COUNT)]


class Listing(unittest.TestCase):
    def test_every_page_size_gives_the_same_union(self):
        for size in (1, 7, 100):
            names = []
            for page in sagemaker.get_paginator("list_training_jobs").paginate(
                    NameContains="job-0" if size == 1 else "job", PaginationConfig={"PageSize": size}):
                self.assertLessEqual(len(page["TrainingJobSummaries"]), size)
                names += [j["TrainingJobName"] for j in page["TrainingJobSummaries"]]
            wanted = EXPECTED[:100] if size == 1 else EXPECTED
            self.assertEqual(sorted(names), wanted)
            self.assertEqual(len(names), len(set(names)))

    def test_the_default_page_holds_ten(self):
        page = sagemaker.list_training_jobs()
        self.assertEqual(len(page["TrainingJobSummaries"]), 10)
        self.assertIn("NextToken", page)

    def test_sorted_by_name_both_ways(self):
        self.assertEqual(all_names(SortBy="Name", SortOrder="Ascending"), EXPECTED)
        self.assertEqual(all_names(SortBy="Name", SortOrder="Descending"), EXPECTED[::-1])

    def test_sorted_by_creation_time(self):
        times = [j["CreationTime"] for page in sagemaker.get_paginator("list_training_jobs").paginate(
            SortBy="CreationTime", SortOrder="Descending") for j in page["TrainingJobSummaries"]]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual(len(times), COUNT)

    def test_a_filter_by_status_yields_all_through_the_paginator(self):
        failed = all_names(StatusEquals="Failed", PaginationConfig={"PageSize": 1})
        self.assertEqual(sorted(failed), [n for i, n in enumerate(EXPECTED) if i % 10 == 3])

    def test_pages_by_modification_time_end(self):
        since = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
        self.assertEqual(len(all_names(LastModifiedTimeAfter=since)), COUNT)
        later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        self.assertEqual(all_names(LastModifiedTimeAfter=later), [])

    def test_a_bad_token_is_refused(self):
        with self.assertRaises(ClientError) as raised:
            sagemaker.list_training_jobs(NextToken="bogus")
        self.assertEqual(raised.exception.response["Error"]["Code"], "ValidationException")

    def test_tags(self):
        arn = "arn:aws:sagemaker:us-west-2:000000000000:training-job/job-001"
        self.assertEqual(sagemaker.list_tags(ResourceArn=arn)["Tags"], [{"Key": "parity", "Value": "odd"}])
        sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "team", "Value": "a"}])
        sagemaker.delete_tags(ResourceArn=arn, TagKeys=["parity"])
        self.assertEqual(sagemaker.list_tags(ResourceArn=arn)["Tags"], [{"Key": "team", "Value": "a"}])

    def test_search_by_status_and_name(self):
        found = []
        for page in sagemaker.get_paginator("search").paginate(
                Resource="TrainingJob", SearchExpression={"Filters": [
                    {"Name": "TrainingJobStatus", "Operator": "Equals", "Value": "Failed"},
                    {"Name": "TrainingJobName", "Operator": "Contains", "Value": "job-1"}]}):
            found += [r["TrainingJob"]["TrainingJobName"] for r in page["Results"]]
        self.assertEqual(sorted(found), [n for i, n in enumerate(EXPECTED) if i % 10 == 3 and 100 <= i < 200])


if __name__ == "__main__":
    unittest.main()
