# SPDX-License-Identifier: GPL-2.0-only
"""One small file of each format, of our own writing."""

from __future__ import annotations

from pathlib import Path

#: Format, name of its sample, and what is in it.
_SAMPLES = {
    "astra_text": (
        "job.txt",
        "HYBRID_DLRM 0\n2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\nb -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 0\n",
    ),
    "astra_network": ("network.yml", "topology: [Ring]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [500]\n"),
    "astra_system": ("system.json", '{"endpoint-delay": 10,\n "preferred-dataset-splits": 4}\n'),
    "astra_logical_dims": ("logical.json", '{"logical-dims": ["4", "2"]}\n'),
    "hpcc_flows": ("flow.txt", "1\n0 2 3 100 4096 2.0\n"),
    "nccl_tests": (
        "nccl.log",
        "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
        "1024 256 float sum -1 10.0 0.10 0.15 0 10.0 0.10 0.15 0\n",
    ),
    "ns3_topology": ("topology.txt", "3 1 2\n1\n0 1 100Gbps 500ns 0\n2 1 100Gbps 500ns 0\n"),
    "platform": (
        "platform.json",
        '{"name": "pair",\n "nodes": [{"name": "a", "kind": "accelerator", "rank": 0},\n'
        '  {"name": "b", "kind": "accelerator", "rank": 1}],\n'
        ' "links": [{"a": "a", "b": "b", "rate": "100Gbps", "delay": "1us", "class": "direct"}]}\n',
    ),
    "roce_config": ("config.txt", "CC_MODE 1\nHAS_WIN 1\nBUFFER_SIZE 32\n"),
    "sharding_plan": (
        "plan.csv",
        "table,sharding,rank,row_begin,rows,dim_begin,dims,tier\n"
        "a,row_wise,0,0,6,0,8,hbm\na,row_wise,1,6,4,0,8,host\nb,data_parallel,all,0,3,0,8,hbm\n",
    ),
    "scenario": ("scenario.toml", '[platform]\nkind = "ring"\nranks = 4\n'),
}
NAMES = tuple(_SAMPLES)


def write(folder: Path, format: str) -> Path:
    """Write the sample of a format into ``folder``."""
    name, text = _SAMPLES[format]
    path = folder / name
    path.write_text(text)
    return path
