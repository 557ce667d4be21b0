"""What the scripts share: the images, the net.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib

import numpy
import tensorflow as tf


def read(directory):
    rows = numpy.concatenate([numpy.loadtxt(f, delimiter=",") for f in pathlib.Path(directory).glob("*.csv")])
    return (rows[:, 1:].reshape(-1, 8, 8, 1) / 16).astype("float32"), rows[:, 0].astype("int64")


def network():
    return tf.keras.Sequential([
        tf.keras.Input((8, 8, 1)),
        tf.keras.layers.Conv2D(32, 3, activation="relu", padding="same"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Conv2D(64, 3, activation="relu", padding="same"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10)])
