"""Search quality: regret of Meridian's strategies and of Optuna's and scikit-optimize's (goal: best or within noise).

Shifted functions with a known minimum, one seed per run; medians with quartiles over seeds. SEEDS (30) and PEER_SEEDS
(as SEEDS) set how many; CASES and PLAYERS choose by name, comma-separated. Peers are installed into build/bench-search.

    SEEDS=30 PEER_SEEDS=10 CASES=branin,mixed ./dev bench p9

SPDX-License-Identifier: Apache-2.0
"""
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("MERIDIAN_BUILD", "build/release")
VENV = ROOT / "build/bench-search"
# name: function, trials, trials at once, standard deviation of the noise
CASES = {
    "branin": ("branin", 60, 1, 0.0),
    "hartmann6": ("hartmann6", 60, 1, 0.0),
    "ackley5": ("ackley5", 60, 1, 0.0),
    "rosenbrock4": ("rosenbrock4", 100, 1, 0.0),
    "hartmann6-batch8": ("hartmann6", 96, 8, 0.0),
    "hartmann6-noisy": ("hartmann6", 100, 1, 0.1),
    "mixed": ("mixed", 60, 1, 0.0),
    "hartmann6in20": ("hartmann6in20", 100, 1, 0.0),
    "ackley20": ("ackley20", 200, 1, 0.0),
}
OURS = ["Bayesian", "TPE", "CMA-ES", "Random"]
PEERS = ["optuna-gp", "optuna-tpe", "optuna-cmaes", "skopt"]


# ---- the functions, as p9_search.cpp has them

def branin(u):
    x, y = u[0] * 15 - 5, u[1] * 15
    return ((y - 5.1 / (4 * math.pi ** 2) * x * x + 5 / math.pi * x - 6) ** 2
            + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10)


def hartmann6(x):
    a = ((10, 3, 17, 3.5, 1.7, 8), (0.05, 10, 17, 0.1, 8, 14), (3, 3.5, 1.7, 10, 17, 8), (17, 8, 0.05, 10, 0.1, 14))
    p = ((.1312, .1696, .5569, .0124, .8283, .5886), (.2329, .4135, .8307, .3736, .1004, .9991),
         (.2348, .1451, .3522, .2883, .3047, .6650), (.4047, .8828, .8732, .5743, .1091, .0381))
    return -sum(c * math.exp(-sum(a[i][j] * (x[j] - p[i][j]) ** 2 for j in range(6)))
                for i, c in enumerate((1, 1.2, 3, 3.2)))


def ackley(x):
    n = len(x)
    return (-20 * math.exp(-0.2 * math.sqrt(sum(v * v for v in x) / n))
            - math.exp(sum(math.cos(2 * math.pi * v) for v in x) / n) + 20 + math.e)


def rosenbrock(x):
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))


def mixed(x):
    return branin(x) + (2, 0, 1, 3, 5)[int(x[3])] * (1 + 0.2 * x[0]) + 0.25 * (x[2] - 7) ** 2


FUNCTIONS = {  # dimensions, low, high, minimum, value
    "branin": (2, 0, 1, 0.39788735772973816, branin),
    "hartmann6": (6, 0, 1, -3.322368011415514, hartmann6),
    "ackley5": (5, -32.768, 32.768, 0, ackley),
    "rosenbrock4": (4, -5, 10, 0, rosenbrock),
    "hartmann6in20": (20, 0, 1, -3.322368011415514, hartmann6),
    "ackley20": (20, -32.768, 32.768, 0, ackley),
    "mixed": (4, 0, 1, 0.39788735772973816, mixed),
}


# ---- the peers: ask() gives an opaque trial and its point, tell() takes the value back

class Optuna:
    def __init__(self, kind, function, seed, noisy):
        import optuna
        import warnings
        warnings.simplefilter("ignore")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        samplers = {"gp": lambda: optuna.samplers.GPSampler(seed=seed, deterministic_objective=not noisy),
                    "tpe": lambda: optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True),
                    "cmaes": lambda: optuna.samplers.CmaEsSampler(seed=seed)}
        self.study = optuna.create_study(sampler=samplers[kind]())
        self.function = function

    def ask(self):
        trial = self.study.ask()
        dimensions, low, high, *_ = FUNCTIONS[self.function]
        if self.function == "mixed":
            return trial, [trial.suggest_float("x0", 0, 1), trial.suggest_float("x1", 0, 1),
                           trial.suggest_int("x2", 1, 10), trial.suggest_categorical("x3", [0, 1, 2, 3, 4])]
        return trial, [trial.suggest_float(f"x{i}", low, high) for i in range(dimensions)]

    def tell(self, trial, _, value):
        self.study.tell(trial, value)


class Skopt:
    def __init__(self, function, seed, _):
        import skopt
        import warnings
        warnings.simplefilter("ignore")
        dimensions, low, high, *_ = FUNCTIONS[function]
        box = [(float(low), float(high))] * dimensions
        if function == "mixed":
            box = [(0.0, 1.0), (0.0, 1.0), skopt.space.Integer(1, 10), skopt.space.Categorical([0, 1, 2, 3, 4])]
        self.optimizer = skopt.Optimizer(box, "GP", random_state=seed, n_initial_points=10)

    def ask(self):
        point = self.optimizer.ask()
        return point, point

    def tell(self, trial, _, value):
        self.optimizer.tell(trial, value)


def peer(player, function, seed, noisy):
    if player == "skopt":
        return Skopt(function, seed, noisy)
    return Optuna(player.split("-")[1], function, seed, noisy)


def play_peer(player, function, budget, batch, noise, first, seeds):
    """As `p9_search play`, inside the peers' environment."""
    import random
    shifts = subprocess.run([str(BUILD / "bin/p9_search"), "shifts", function, str(first), str(seeds)], text=True,
                            capture_output=True, check=True).stdout
    *_, minimum, value_of = FUNCTIONS[function]
    for line in shifts.splitlines():
        seed, *shift = line.split()
        shift = [float(s) for s in shift]
        chance = random.Random(int(seed))
        optimizer = peer(player, function, int(seed), noise > 0)
        best, asking, done = (math.inf, math.inf), 0.0, 0
        while done < budget:
            asked = []
            while len(asked) < batch and done < budget:
                started = time.process_time()
                asked.append(optimizer.ask())
                asking += time.process_time() - started
                done += 1
            for trial, point in asked:
                true = value_of([x - s for x, s in zip(point, shift)])
                value = true + noise * chance.gauss(0, 1)
                best = min(best, (value, true))
                started = time.process_time()
                optimizer.tell(trial, point, value)  # scikit-optimize fits here
                asking += time.process_time() - started
        print(seed, best[1] - minimum, 1000 * asking / budget, flush=True)


def prepare():
    """Builds our player; installs the peers. Returns the peers' interpreter, or None when they cannot be had."""
    if not (BUILD / "bin/p9_search").exists() or os.environ.get("MERIDIAN_BUILD") is None:
        subprocess.run(["ninja", "-C", str(BUILD), "p9_search"], check=True, stdout=subprocess.DEVNULL)
    python = VENV / "bin/python"
    if not (VENV / "ready").exists():
        # PyTorch comes from the distribution, and wants this Optuna and this NumPy.
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", str(VENV)], check=True)
        done = subprocess.run([str(VENV / "bin/pip"), "install", "-q", "--disable-pip-version-check", "optuna==4.5.0",
                               "cmaes", "scipy", "scikit-optimize", "numpy<2"], capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stderr.strip().splitlines()[-1:], flush=True)
            return None
        (VENV / "ready").touch()
    return python


def print_line(name, player, out):
    rows = [line.split() for line in out.splitlines()]
    regrets = sorted(float(r[1]) for r in rows)
    low, middle, high = statistics.quantiles(regrets, n=4) if len(regrets) > 1 else regrets * 3
    cost = statistics.mean(float(r[2]) for r in rows)
    print(f"{name:18} {player:14} regret {middle:9.3g} ({low:.3g}–{high:.3g})   {cost:8.2f} ms of processor per "
          f"suggestion   {len(rows)} seeds", flush=True)


def main():
    python = prepare()
    seeds = int(os.environ.get("SEEDS", "30"))
    peer_seeds = int(os.environ.get("PEER_SEEDS", seeds))
    players = os.environ.get("PLAYERS", ",".join(OURS + PEERS)).split(",")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for name in os.environ.get("CASES", ",".join(CASES)).split(","):
        function, budget, batch, noise = CASES[name]
        for player in players:
            if player in OURS:
                command = [str(BUILD / "bin/p9_search"), "play", function, player, str(budget), "1", str(seeds),
                           "batch", str(batch), "noise", str(noise)]
            elif python is None:
                print(f"{name:18} {player:14} not measured: the peers could not be installed", flush=True)
                continue
            else:
                command = [str(python), __file__, "--peer", player, function, str(budget), str(batch), str(noise), "1",
                           str(peer_seeds)]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            if done.returncode != 0 or not done.stdout:
                print(f"{name:18} {player:14} not measured: {(done.stderr.strip().splitlines() or ['?'])[-1]}", flush=True)
                continue
            print_line(name, player, done.stdout)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        player, function, budget, batch, noise, first, seeds = sys.argv[2:]
        play_peer(player, function, int(budget), int(batch), float(noise), int(first), int(seeds))
    else:
        main()
