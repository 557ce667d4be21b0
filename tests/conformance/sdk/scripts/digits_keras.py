"""Handwritten digits by Keras, as TensorFlow's guides write it: the same script alone and over several workers
(TF_CONFIG).

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import pathlib

import tensorflow as tf

from digits import network, read


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--train", default=os.environ["SM_CHANNEL_TRAIN"])
    parser.add_argument("--validation", default=os.environ["SM_CHANNEL_VALIDATION"])
    arguments, _ = parser.parse_known_args()  # the SDK adds --model_dir
    tf.keras.utils.set_random_seed(1)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    workers = strategy.num_replicas_in_sync
    task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {"index": 0})
    print(f"worker {task['index']} of {workers}, tensorflow {tf.__version__}", flush=True)

    images, labels = read(arguments.train)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    batch = arguments.batch_size * workers
    data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(labels), seed=1).repeat().batch(batch)
    with strategy.scope():
        model = network()
        model.compile(optimizer=tf.keras.optimizers.Adam(0.003), metrics=["accuracy"],
                      loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(data.with_options(options), epochs=arguments.epochs, steps_per_epoch=len(labels) // batch, verbose=2)

    whole = network()  # outside the strategy: judged and saved by the first worker alone
    whole.set_weights(model.get_weights())
    held_out, digits = read(arguments.validation)
    accuracy = (whole(held_out).numpy().argmax(axis=1) == digits).mean()
    print(f"workers={workers} held_out_accuracy={accuracy:.4f}", flush=True)
    if task["index"] == 0:
        whole.save(pathlib.Path(os.environ["SM_MODEL_DIR"]) / "1")


main()
