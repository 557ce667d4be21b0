"""Handwritten digits by TensorFlow and Horovod: every rank has its part of the images, gradients are averaged.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import pathlib
import socket

import horovod.tensorflow as hvd
import numpy
import tensorflow as tf

from digits import network, read


@tf.function
def step(net, optimizer, images, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, net(images, training=True)))
    gradients = hvd.DistributedGradientTape(tape).gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=16)
    arguments, _ = parser.parse_known_args()
    hvd.init()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    print(f"rank {hvd.rank()} of {hvd.size()}, local {hvd.local_rank()} of {hvd.local_size()} on {socket.gethostname()}, "
          f"fusion threshold {os.environ.get('HOROVOD_FUSION_THRESHOLD')}", flush=True)
    tf.keras.utils.set_random_seed(1 + hvd.rank())  # different weights at first: the broadcast makes them one
    images, labels = read(os.environ["SM_CHANNEL_TRAIN"])
    net, optimizer = network(), tf.keras.optimizers.SGD(0.05, momentum=0.9)
    optimizer.build(net.trainable_variables)
    hvd.broadcast_variables([*net.variables, *optimizer.variables], root_rank=0)
    per_rank = len(labels) // hvd.size()
    for epoch in range(1, arguments.epochs + 1):
        order = numpy.random.default_rng(epoch).permutation(len(labels))
        mine = order[hvd.rank() * per_rank:(hvd.rank() + 1) * per_rank]
        for at in range(0, per_rank - arguments.batch_size + 1, arguments.batch_size):
            part = mine[at:at + arguments.batch_size]
            loss = step(net, optimizer, tf.constant(images[part]), tf.constant(labels[part]))
        mean = float(hvd.allreduce(loss, name="loss"))
        if hvd.rank() == 0:
            print(f"epoch={epoch} loss={mean:.4f}", flush=True)
    spread = hvd.allgather(tf.reshape(tf.concat([tf.reshape(v, [-1]) for v in net.variables], 0), [1, -1]))
    same = bool(tf.reduce_all(spread == spread[0]))
    held_out, digits = read(os.environ["SM_CHANNEL_VALIDATION"])
    if hvd.rank() == 0:
        accuracy = (net(held_out).numpy().argmax(axis=1) == digits).mean()
        print(f"ranks={hvd.size()} held_out_accuracy={accuracy:.4f} same_weights={same}", flush=True)
        net.save(pathlib.Path(os.environ["SM_MODEL_DIR"]) / "1")


main()
