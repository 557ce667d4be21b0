#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same training as train.py by TensorFlow and Horovod: ResNet-50 on TFRecord shards, gradients averaged over all
ranks that mpirun started. Alone it is one rank.
"""

import pathlib
import shutil
import socket
import time

import horovod.tensorflow as hvd
import tensorflow as tf

from data_tf import training_batches, validation_batches
from options import learning_rate, parse_arguments
from tfrecord import count_records, find_shards


def total(values):
    """The sum over the ranks of each value."""
    return [float(v) for v in hvd.allreduce(tf.constant(values, tf.float64), op=hvd.Sum, name="total")]


class Trainer:
    def __init__(self, arguments):
        self.arguments = arguments
        tf.keras.utils.set_random_seed(arguments.seed + hvd.rank())
        self.net = tf.keras.applications.ResNet50(
            weights=None, classes=arguments.num_classes, classifier_activation=None,
            input_shape=(arguments.image_size, arguments.image_size, 3))
        self.optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)
        self.optimizer.build(self.net.trainable_variables)
        self.loss = tf.keras.losses.CategoricalCrossentropy(
            from_logits=True, label_smoothing=arguments.label_smoothing)
        self.kernels = [v for v in self.net.trainable_variables if len(v.shape) > 1]
        self.shards = find_shards(arguments.data_dir, "train")
        steps = count_records(self.shards) // (arguments.batch_size * hvd.size())
        self.steps = min(steps, arguments.max_steps) if arguments.max_steps else steps
        if self.steps == 0:
            raise SystemExit(f"fewer images than one step needs "
                             f"({arguments.batch_size} × {hvd.size()} ranks): lower -b")
        self.checkpoint = tf.train.Checkpoint(net=self.net, optimizer=self.optimizer, epoch=tf.Variable(0))

    def resume(self, directory):
        """Epochs done so far. Rank 0 reads; the others receive its state, weights included."""
        latest = tf.train.latest_checkpoint(directory) if hvd.rank() == 0 else None
        if latest:
            self.checkpoint.restore(latest)
        state = [*self.net.variables, *self.optimizer.variables, self.checkpoint.epoch]
        hvd.broadcast_variables(state, root_rank=0)
        return int(self.checkpoint.epoch)

    @tf.function
    def step(self, images, labels):
        with tf.GradientTape() as tape:
            scores = self.net(images, training=True)
            loss = self.loss(tf.one_hot(labels, self.arguments.num_classes), scores)
            decay = self.arguments.weight_decay * tf.add_n([tf.nn.l2_loss(k) for k in self.kernels])
            objective = loss + decay
        gradients = hvd.DistributedGradientTape(tape).gradient(objective, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.net.trainable_variables))
        return loss

    def epoch(self, number):
        """Mean loss and images per second of all ranks."""
        arguments, start, losses = self.arguments, time.monotonic(), 0.0
        data = training_batches(self.shards, arguments.image_size, arguments.batch_size, hvd.rank(), hvd.size(),
                                arguments.seed * 100_003 + number)
        for step, (images, labels) in enumerate(data.take(self.steps)):
            self.optimizer.learning_rate = learning_rate(number - 1 + step / self.steps, arguments, hvd.size())
            losses += float(self.step(images, labels))
        images = self.steps * arguments.batch_size
        loss, rate = total([losses / self.steps, images / (time.monotonic() - start)])
        return loss / hvd.size(), rate

    def accuracy(self, shards):
        # Each rank has its own running means and variances: judge, and keep, those of rank 0.
        hvd.broadcast_variables(self.net.non_trainable_variables, root_rank=0)
        correct = seen = 0
        for images, labels in validation_batches(shards, self.arguments.image_size, self.arguments.batch_size,
                                                 hvd.rank(), hvd.size()):
            found = tf.argmax(self.net(images, training=False), axis=1)
            correct += int(tf.reduce_sum(tf.cast(found == labels, tf.int32)))
            seen += len(labels)
        correct, seen = total([correct, seen])
        return correct / max(1.0, seen)


def main():
    arguments = parse_arguments()
    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    else:
        tf.config.threading.set_intra_op_parallelism_threads(1)
    directory = pathlib.Path(arguments.checkpoint_dir)
    if arguments.clear_log and hvd.rank() == 0 and directory.is_dir():
        for entry in directory.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    trainer = Trainer(arguments)
    print(f"rank {hvd.rank()} of {hvd.size()} on {socket.gethostname()}: {trainer.steps} steps an epoch, "
          f"{trainer.net.count_params()} parameters", flush=True)
    validation = find_shards(arguments.data_dir, "validation")
    for number in range(trainer.resume(directory) + 1, arguments.num_epochs + 1):
        loss, rate = trainer.epoch(number)
        top1 = trainer.accuracy(validation)
        if hvd.rank() == 0:
            print(f"epoch={number} loss={loss:.4f} top1={top1:.4f} images_per_second={rate:.1f}", flush=True)
            trainer.checkpoint.epoch.assign(number)
            trainer.checkpoint.save(directory / "checkpoint")
    if hvd.rank() == 0:
        model = pathlib.Path(arguments.model_dir)
        model.mkdir(parents=True, exist_ok=True)
        trainer.net.save_weights(model / "resnet50.h5")


if __name__ == "__main__":
    main()
