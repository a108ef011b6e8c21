"""A Slurm controller of one's own, with nodes that exist for it alone: what a real sbatch says of a script.

The nodes are of the kind that a cloud starts when it is asked to, so that none has to run. Their GPUs are empty
files. Nothing is ever started: only `sbatch --test-only` is asked.
"""
import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time


class Missing(ImportError):
    """Slurm is not installed, or does not start here."""


CONFIGURATION = """\
ClusterName=vramcalc
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MpiDefault=none
GresTypes=gpu
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=600
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def write_configuration(folder, nodes):
    os.mkdir(f"{folder}/state")
    gres = ["AutoDetect=off"]
    lines = [CONFIGURATION.format(folder=folder, host=socket.gethostname().split(".")[0], port=free_port(),
                                  user=getpass.getuser())]
    for name, gpus in nodes.items():
        listed = ",".join(f"gpu:{kind}:{count}" for kind, count in gpus.items())
        lines.append(f"NodeName={name} CPUs=64 RealMemory=2000000 Gres={listed} State=CLOUD\n")
        for kind, count in gpus.items():
            files = []
            for index in range(count):
                files.append(f"{folder}/{kind}-{index}")
                with open(files[-1], "w", encoding="utf-8"):
                    pass
            gres.append(f"NodeName={name} Name=gpu Type={kind} File={','.join(files)}")
    for file, text in (("slurm.conf", "".join(lines)), ("gres.conf", "\n".join(gres) + "\n")):
        with open(f"{folder}/{file}", "w", encoding="utf-8") as out:
            out.write(text)


def wait_until_up(process, environment, log):
    for _ in range(300):
        if process.poll() is not None:
            with open(log, encoding="utf-8", errors="replace") as said:
                raise Missing("slurmctld does not start: " + said.read().strip().splitlines()[-1])
        ping = subprocess.run(["scontrol", "ping"], env=environment, capture_output=True, text=True, check=False)
        if "is UP" in ping.stdout:
            return
        time.sleep(0.1)
    raise Missing("slurmctld does not answer")


@contextlib.contextmanager
def controller(nodes):
    """`nodes`: {"a[1-2]": {type of GPU: how many}}. Gives sbatch(script) -> (status, what it said)."""
    programs = {name: shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
                for name in ("slurmctld", "sbatch", "scontrol")}
    if None in programs.values():
        raise Missing("no " + ", no ".join(name for name, path in programs.items() if not path))
    with tempfile.TemporaryDirectory() as folder:
        write_configuration(folder, nodes)
        environment = {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf"}
        log = f"{folder}/log"
        with open(log, "w", encoding="utf-8") as out:
            process = subprocess.Popen([programs["slurmctld"], "-D", "-f", f"{folder}/slurm.conf"],
                                       stdout=out, stderr=out, env=environment)

        def sbatch(script):
            with open(f"{folder}/job.sh", "w", encoding="utf-8") as file:
                file.write(script)
            run = subprocess.run(["sbatch", "--test-only", file.name], env=environment, capture_output=True,
                                 text=True, check=False)
            return run.returncode, run.stderr

        try:
            wait_until_up(process, environment, log)
            yield sbatch
        finally:
            process.terminate()
            process.wait()
