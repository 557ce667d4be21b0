"""Processor time per suggestion at 50, 100 and 500 observations (peers: Optuna, scikit-optimize; goal: 5, 20, 100 ms).

Hartmann6; the observations are random points, told before the clock starts; then COUNT (20) suggestions, each told.
Median with the least and the most; the peers' time of telling counts where they fit there. OBSERVATIONS and PLAYERS
choose, comma-separated.

SPDX-License-Identifier: Apache-2.0
"""
import os
import random
import statistics
import subprocess
import sys
import time

import p9_search as search


def time_peer(player, observations, count):
    function, chance = "hartmann6", random.Random(1)
    dimensions, low, high, _, value_of = search.FUNCTIONS[function]
    optimizer = search.peer(player, function, 1, False)
    for _ in range(observations):
        point = [chance.uniform(low, high) for _ in range(dimensions)]
        if player == "skopt":
            optimizer.optimizer.tell(point, value_of(point), fit=False)
        else:
            import optuna
            spaces = {f"x{i}": optuna.distributions.FloatDistribution(low, high) for i in range(dimensions)}
            optimizer.study.add_trial(optuna.trial.create_trial(
                params={f"x{i}": v for i, v in enumerate(point)}, distributions=spaces, value=value_of(point)))
    for _ in range(count):
        started = time.process_time()
        trial, point = optimizer.ask()
        value = value_of(point)
        optimizer.tell(trial, point, value)
        print(1000 * (time.process_time() - started), flush=True)


def main():
    python = search.prepare()
    count = os.environ.get("COUNT", "20")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    players = os.environ.get("PLAYERS", ",".join(search.OURS[:2] + search.PEERS)).split(",")
    for observations in os.environ.get("OBSERVATIONS", "50,100,500").split(","):
        for player in players:
            if player in search.OURS:
                command = [str(search.BUILD / "bin/p9_search"), "time", "hartmann6", player, observations, "1", count]
            elif python is None:
                print(f"{observations:>4} observations  {player:14} not measured: the peers could not be installed")
                continue
            else:
                command = [str(python), __file__, "--peer", player, observations, count]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            values = [float(line) for line in done.stdout.split()]
            if done.returncode != 0 or not values:
                why = (done.stderr.strip().splitlines() or ["?"])[-1]
                print(f"{observations:>4} observations  {player:14} not measured: {why}", flush=True)
                continue
            print(f"{observations:>4} observations  {player:14} {statistics.median(values):9.2f} ms "
                  f"({min(values):.2f}–{max(values):.2f})   {len(values)} suggestions", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        time_peer(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
