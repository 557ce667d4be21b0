"""boto3 of today and the SageMaker SDK version 2, unmodified, by the environment of `meridian env` alone.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import io
import os
import pathlib
import sys
import tempfile
import textwrap
import unittest

import harness

TRAIN = textwrap.dedent("""
    import argparse, os, pathlib
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--name", default="")
    args = parser.parse_args()
    print("channels", sorted(os.listdir("/opt/ml/input/data")), "name", args.name, flush=True)
    for epoch in range(args.epochs):
        print(f"epoch={epoch} val_acc: {0.5 + epoch / 10:.3f}", flush=True)
    pathlib.Path(os.environ["SM_MODEL_DIR"], "model.txt").write_text("trained")
""")

# A script for the XGBoost estimator, with the package of the virtual environment that its image is mapped to.
BOOST = textwrap.dedent("""
    import argparse, os, subprocess, sys
    import numpy, xgboost
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_round", type=int)
    args = parser.parse_args()
    rows = numpy.loadtxt(os.path.join(os.environ["SM_CHANNEL_TRAIN"], "train.csv"), delimiter=",")
    data = xgboost.DMatrix(rows[:, 1:], label=rows[:, 0])
    model = xgboost.train({"objective": "binary:logistic"}, data, args.num_round, evals=[(data, "train")])
    model.save_model(os.path.join(os.environ["SM_MODEL_DIR"], "model.json"))
    subprocess.run(["python", "-c", "import sys; print('python is', sys.prefix)"], check=True)
""")


def setUpModule():
    global meridian
    # The family's image runs the built-in algorithm; this version of it is a Python with the package.
    meridian = harness.Daemon(
        config=f'images:\n  - match: "*/sagemaker-xgboost:1.5-1"\n    run: host:{sys.executable}\n').start()
    unittest.addModuleCleanup(meridian.close)
    meridian.export_environment()


class Boto3(unittest.TestCase):
    def test_the_variable_alone_leads_here(self):
        import boto3
        self.assertEqual(boto3.client("sts").get_caller_identity()["Account"], "000000000000")
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket="by-variable", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        s3.put_object(Bucket="by-variable", Key="k", Body=b"v")
        self.assertEqual(s3.get_object(Bucket="by-variable", Key="k")["Body"].read(), b"v")
        boto3.client("cloudwatch").put_metric_data(Namespace="n", MetricData=[{"MetricName": "m", "Value": 1.5}])
        self.assertEqual(boto3.client("cloudwatch").list_metrics(Namespace="n")["Metrics"][0]["MetricName"], "m")


class Sdk(unittest.TestCase):
    def source(self):
        directory = pathlib.Path(tempfile.mkdtemp())
        (directory / "train.py").write_text(TRAIN)
        (directory / "data").mkdir()
        (directory / "data" / "a.csv").write_text("1,2\n")
        return directory

    def fit(self, estimator, inputs):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            estimator.fit(inputs, logs=True)
        return printed.getvalue()

    def test_pytorch_estimator(self):
        import sagemaker
        from sagemaker.pytorch import PyTorch
        source = self.source()
        session = sagemaker.Session()
        data = session.upload_data(str(source / "data"), key_prefix="sdk/data")
        estimator = PyTorch(entry_point="train.py", source_dir=str(source), role=harness.ROLE, framework_version="1.13",
                            py_version="py39", instance_count=1, instance_type="ml.m5.large",
                            hyperparameters={"epochs": 3, "name": "a b"},
                            metric_definitions=[{"Name": "val_acc", "Regex": r"val_acc: ([0-9.]+)"}])
        printed = self.fit(estimator, {"train": data})
        self.assertIn("name a b", printed)
        self.assertIn("val_acc: 0.700", printed)
        self.assertTrue(estimator.model_data.endswith("/output/model.tar.gz"))
        job = estimator.latest_training_job.describe()
        self.assertEqual(job["TrainingJobStatus"], "Completed")
        frame = sagemaker.TrainingJobAnalytics(estimator.latest_training_job.name, ["val_acc"]).dataframe()
        self.assertGreater(len(frame), 0)

    def test_generic_estimator_with_the_reserved_image(self):
        from sagemaker.estimator import Estimator
        source = self.source()
        estimator = Estimator(image_uri="host", entry_point="train.py", source_dir=str(source), role=harness.ROLE,
                              instance_count=2, instance_type="ml.m5.large", hyperparameters={"epochs": 1})
        data = estimator.sagemaker_session.upload_data(str(source / "data"), key_prefix="generic/data")
        printed = self.fit(estimator, {"train": data})
        self.assertIn("epoch=0", printed)

    def boost_data(self, session):
        directory = pathlib.Path(tempfile.mkdtemp())
        (directory / "train.csv").write_text("".join(f"{i % 2},{i % 2 + i / 1000},{i % 7}\n" for i in range(200)))
        return session.upload_data(str(directory / "train.csv"), key_prefix="xgb")

    def test_xgboost_estimator(self):
        import sagemaker
        from sagemaker.xgboost import XGBoost
        directory = pathlib.Path(tempfile.mkdtemp())
        (directory / "boost.py").write_text(BOOST)
        session = sagemaker.Session()
        estimator = XGBoost(entry_point="boost.py", source_dir=str(directory), role=harness.ROLE,
                            framework_version="1.5-1", instance_count=1, instance_type="ml.m5.large",
                            hyperparameters={"num_round": 5},
                            metric_definitions=[{"Name": "logloss", "Regex": r"train-logloss:([0-9.]+)"}])
        printed = self.fit(estimator, {"train": self.boost_data(session)})
        self.assertIn("train-logloss", printed)
        self.assertIn(f"python is {sys.prefix}", printed)
        job = estimator.latest_training_job.describe()
        self.assertLess({m["MetricName"]: m["Value"] for m in job["FinalMetricDataList"]}["logloss"], 0.5)

    def test_the_sdk_is_told_to_send_no_reports_of_use(self):
        import sagemaker
        modules = sagemaker.Session().sagemaker_config["SageMaker"]["PythonSDK"]["Modules"]
        self.assertIs(modules["TelemetryOptOut"], True)

    def test_the_default_bucket_is_made_when_needed(self):
        import sagemaker
        session = sagemaker.Session()
        self.assertEqual(session.default_bucket(), "sagemaker-us-west-2-000000000000")
        uri = session.upload_data(__file__, key_prefix="own/prefix")
        self.assertEqual(uri, "s3://sagemaker-us-west-2-000000000000/own/prefix/sdk2.py")
        self.assertEqual(session.read_s3_file(session.default_bucket(), "own/prefix/sdk2.py"),
                         pathlib.Path(__file__).read_text())

    def test_the_xgboost_image_runs_the_built_in_algorithm(self):
        import sagemaker
        from sagemaker.estimator import Estimator
        session = sagemaker.Session()
        data = self.boost_data(session)
        image = sagemaker.image_uris.retrieve("xgboost", "us-west-2", version="1.7-1")
        estimator = Estimator(image_uri=image, role=harness.ROLE, instance_count=1, instance_type="ml.m5.large",
                              output_path=f"s3://{session.default_bucket()}/xgb-out",
                              hyperparameters={"num_round": 5, "objective": "binary:logistic"})
        printed = self.fit(estimator, {"train": sagemaker.inputs.TrainingInput(data, content_type="text/csv")})
        self.assertIn("train-logloss", printed)

    def test_a_failing_script_raises_with_the_reason(self):
        from sagemaker.exceptions import UnexpectedStatusException
        from sagemaker.pytorch import PyTorch
        directory = pathlib.Path(tempfile.mkdtemp())
        (directory / "train.py").write_text("raise SystemExit('no rows in the data')")
        estimator = PyTorch(entry_point="train.py", source_dir=str(directory), role=harness.ROLE,
                            framework_version="1.13", py_version="py39", instance_count=1, instance_type="ml.m5.large")
        with self.assertRaises(UnexpectedStatusException) as raised:
            self.fit(estimator, None)
        self.assertIn("no rows in the data", str(raised.exception))

    def test_attach_and_spot_savings(self):
        import sagemaker
        from sagemaker.pytorch import PyTorch
        source = self.source()
        estimator = PyTorch(entry_point="train.py", source_dir=str(source), role=harness.ROLE, framework_version="1.13",
                            py_version="py39", instance_count=1, instance_type="ml.m5.large", use_spot_instances=True,
                            max_run=600, max_wait=900,
                            checkpoint_s3_uri=f"s3://{sagemaker.Session().default_bucket()}/ckpt")
        data = estimator.sagemaker_session.upload_data(str(source / "data"), key_prefix="spot/data")
        printed = self.fit(estimator, {"train": data})
        self.assertIn("Billable seconds", printed)
        attached = PyTorch.attach(estimator.latest_training_job.name)
        self.assertEqual(attached.model_data, estimator.model_data)


if __name__ == "__main__":
    unittest.main()
