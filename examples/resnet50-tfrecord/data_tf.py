# SPDX-License-Identifier: Apache-2.0
"""The input of train_horovod.py: tf.data pipelines over TFRecord shards, one part for each rank."""

import tensorflow as tf

MEAN = (0.485, 0.456, 0.406)
SPREAD = (0.229, 0.224, 0.225)


def records(shards, rank, ranks, seed=None):
    """This rank's records: each rank reads its own shards when there are enough of them."""
    files = tf.data.Dataset.from_tensor_slices([str(s) for s in shards])
    if seed is not None:
        files = files.shuffle(len(shards), seed=seed, reshuffle_each_iteration=False)
    if len(shards) >= ranks and len(shards) % ranks == 0:
        return files.shard(ranks, rank).interleave(tf.data.TFRecordDataset, cycle_length=4)
    return files.flat_map(tf.data.TFRecordDataset).shard(ranks, rank)


def decode(record):
    """(uint8 image [height, width, 3], label from 0)."""
    features = tf.io.parse_single_example(record, {
        "image/encoded": tf.io.FixedLenFeature([], tf.string),
        "image/format": tf.io.FixedLenFeature([], tf.string, "JPEG"),
        "image/height": tf.io.FixedLenFeature([], tf.int64, 0),
        "image/width": tf.io.FixedLenFeature([], tf.int64, 0),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64)})
    encoded = features["image/encoded"]
    shape = tf.stack([features["image/height"], features["image/width"], 3])
    image = tf.cond(  # RAW: bytes of an RGB image
        features["image/format"] == "RAW",
        lambda: tf.reshape(tf.io.decode_raw(encoded, tf.uint8), shape),
        lambda: tf.io.decode_image(encoded, channels=3, expand_animations=False))
    return image, features["image/class/label"] - 1  # ImageNet's labels begin at 1


def square(image, size, side):
    """The middle square of `side` pixels, at `size`, normalised."""
    shape = tf.shape(image)
    image = tf.image.crop_to_bounding_box(image, (shape[0] - side) // 2, (shape[1] - side) // 2, side, side)
    return normal(image, size)


def normal(image, size):
    image = tf.image.resize(tf.cast(image, tf.float32) / 255.0, (size, size))
    return tf.ensure_shape((image - MEAN) / SPREAD, (size, size, 3))


def distorted(image, size):
    """A random rectangle of 35–100 % of the area, perhaps mirrored."""
    begin, extent, _ = tf.image.sample_distorted_bounding_box(
        tf.shape(image), tf.zeros([1, 0, 4]), area_range=(0.35, 1.0), aspect_ratio_range=(0.9, 1.1),
        use_image_if_no_bounding_boxes=True)
    return normal(tf.image.random_flip_left_right(tf.slice(image, begin, extent)), size)


def training_batches(shards, size, batch, rank, ranks, seed):
    """Endless, shuffled and distorted."""
    def prepare(record):
        image, label = decode(record)
        return distorted(image, size), label
    data = records(shards, rank, ranks, seed).shuffle(2048, seed=seed + rank).repeat()
    return data.map(prepare, tf.data.AUTOTUNE).batch(batch, drop_remainder=True).prefetch(2)


def validation_batches(shards, size, batch, rank, ranks):
    """Every record of this rank's part once: the central seven eighths."""
    def prepare(record):
        image, label = decode(record)
        shortest = tf.cast(tf.reduce_min(tf.shape(image)[:2]), tf.float32)
        return square(image, size, tf.cast(shortest * 0.875, tf.int32)), label
    return records(shards, rank, ranks).map(prepare, tf.data.AUTOTUNE).batch(batch)
