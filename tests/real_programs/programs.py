# SPDX-License-Identifier: Apache-2.0
"""Small real uses of libraries that read and write data in machine learning.

Usage: programs.py prepare|run NAME FOLDER

`prepare` makes what `run` reads; only `run` is traced. A function with no `prepare_` twin makes its own data. Inputs come from a
fixed seed.
"""

import os
import sys
from pathlib import Path

ROWS = 2000


def arrays(count=8, rows=4096):
    import numpy as np
    random = np.random.default_rng(1)
    return [random.standard_normal((rows, 16)) for _ in range(count)]


# Array files

def prepare_h5py(folder):
    import h5py
    with h5py.File(folder / "data.h5", "w") as file:
        file.create_dataset("plain", data=arrays(1)[0])
        file.create_dataset("chunked", data=arrays(1)[0], chunks=(256, 16), compression="gzip")


def run_h5py(folder):
    import h5py
    for driver in (None, "core", "stdio"):
        with h5py.File(folder / "data.h5", "r", driver=driver) as file:
            for row in range(0, 4096, 97):
                _ = file["plain"][row], file["chunked"][row]
    with h5py.File(folder / "new.h5", "w") as file:
        file["x"] = arrays(1)[0]


def run_zarr(folder):
    import zarr
    array = zarr.create_array(store=str(folder / "z"), shape=(4096, 16), chunks=(512, 16), dtype="f8")
    array[:] = arrays(1)[0]
    assert zarr.open_array(str(folder / "z"))[::7].shape[1] == 16


def run_numpy(folder):
    import numpy as np
    data = arrays(1)[0]
    np.save(folder / "a.npy", data)
    np.savez(folder / "b.npz", x=data, y=data[:10])
    data.tofile(folder / "c.bin")
    np.load(folder / "a.npy")
    np.load(folder / "b.npz")["x"].sum()
    np.fromfile(folder / "c.bin", count=1000)
    mapped = np.memmap(folder / "c.bin", mode="r+", shape=(4096, 16))
    mapped[10] = 1
    mapped.flush()


def run_tensorstore(folder):
    import tensorstore as ts
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": str(folder / "t")},
            "metadata": {"shape": [4096, 16], "chunks": [512, 16], "dtype": "<f8"}, "create": True}
    array = ts.open(spec).result()
    array.write(arrays(1)[0]).result()
    array[::5].read().result()


def run_safetensors(folder):
    from safetensors.numpy import load_file, save_file
    save_file({"x": arrays(1)[0]}, folder / "m.safetensors")
    load_file(folder / "m.safetensors")


# Records and key-value stores

def run_lmdb(folder):
    import lmdb
    with lmdb.open(str(folder / "db"), map_size=1 << 26) as store:
        with store.begin(write=True) as transaction:
            for i in range(ROWS):
                transaction.put(b"%08d" % i, bytes(2000))
        with store.begin() as transaction:
            assert len(transaction.get(b"%08d" % 7)) == 2000


def run_sqlite(folder):
    import sqlite3
    for mode in ("delete", "wal"):
        with sqlite3.connect(folder / f"{mode}.sqlite") as database:
            database.execute(f"pragma journal_mode={mode}")
            database.execute("create table t (a integer, b blob)")
            database.executemany("insert into t values (?, ?)", ((i, bytes(500)) for i in range(ROWS)))
            database.commit()
            database.execute("pragma mmap_size=1048576")
            assert database.execute("select count(*) from t").fetchone()[0] == ROWS
        database.close()


def prepare_webdataset(folder):
    import webdataset
    with webdataset.TarWriter(str(folder / "d.tar")) as sink:
        for i in range(200):
            sink.write({"__key__": f"{i:05d}", "bin": bytes(5000)})


def run_webdataset(folder):
    import torch
    import webdataset
    data = webdataset.WebDataset(f"pipe:cat {folder}/d.tar", shardshuffle=False, empty_check=False)
    loader = torch.utils.data.DataLoader(data, batch_size=None, num_workers=2)
    assert sum(1 for _ in loader) >= 200


# Tables

def run_pyarrow(folder):
    import pyarrow as pa
    import pyarrow.dataset
    import pyarrow.parquet as pq
    table = pa.table({f"c{i}": values[:, 0] for i, values in enumerate(arrays())})
    pq.write_table(table, folder / "t.parquet", row_group_size=500)
    pq.read_table(folder / "t.parquet", memory_map=True)
    for _ in pq.ParquetFile(folder / "t.parquet").iter_batches(300):
        pass
    pyarrow.dataset.dataset(folder / "t.parquet").to_table(columns=["c1"])


def run_polars(folder):
    import polars
    frame = polars.DataFrame({f"c{i}": values[:, 0] for i, values in enumerate(arrays())})
    frame.write_parquet(folder / "t.parquet")
    frame.write_csv(folder / "t.csv")
    frame.write_ipc(folder / "t.arrow")
    polars.read_parquet(folder / "t.parquet")
    polars.read_csv(folder / "t.csv")
    polars.read_ipc(folder / "t.arrow")


def run_pandas(folder):
    import pandas
    frame = pandas.DataFrame(arrays(1)[0])
    frame.to_csv(folder / "t.csv")
    frame.to_pickle(folder / "t.pickle")
    pandas.read_csv(folder / "t.csv")
    pandas.read_pickle(folder / "t.pickle")


def run_duckdb(folder):
    import duckdb
    with duckdb.connect(str(folder / "d.duckdb")) as database:
        database.execute("create table t as select range a, repeat('x', 100) b from range(20000)")
        database.execute(f"copy t to '{folder}/t.parquet'")
        assert database.execute(f"select count(*) from '{folder}/t.parquet'").fetchone()[0] == 20000


def run_datasets(folder):
    import datasets
    datasets.disable_progress_bars()
    made = datasets.Dataset.from_dict({"x": list(range(ROWS))})
    made.save_to_disk(str(folder / "saved"))
    loaded = datasets.load_from_disk(str(folder / "saved"))
    assert len(loaded.map(lambda row: {"y": row["x"] * 2}, num_proc=2, cache_file_name=str(folder / "mapped.arrow"))) == ROWS


# PyTorch

def run_torch_save(folder):
    import torch
    state = {"w": torch.ones(1 << 18)}
    torch.save(state, folder / "new.pt")
    torch.save(state, folder / "old.pt", _use_new_zipfile_serialization=False)
    torch.load(folder / "new.pt")
    torch.load(folder / "new.pt", mmap=True)
    torch.load(folder / "old.pt")


def prepare_images(folder):
    from PIL import Image
    for i in range(48):
        Image.new("RGB", (64, 64), (i, 2 * i, 3 * i)).save(folder / f"{i:03d}.png")


def image_loader(folder, **options):
    import torch
    loader = torch.utils.data.DataLoader(Images(folder), batch_size=8, num_workers=2, **options)
    for _ in range(2):
        assert sum(len(batch) for batch in loader) == 48


class Images:
    def __init__(self, folder):
        self.paths = sorted(str(path) for path in folder.glob("*.png"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        import numpy as np
        import torch
        from PIL import Image
        return torch.from_numpy(np.array(Image.open(self.paths[index])))


prepare_images_fork = prepare_images_spawn = prepare_images_forkserver = prepare_images_persistent = prepare_images


def run_images_fork(folder):
    image_loader(folder, multiprocessing_context="fork")


def run_images_spawn(folder):
    image_loader(folder, multiprocessing_context="spawn")


def run_images_forkserver(folder):
    image_loader(folder, multiprocessing_context="forkserver")


def run_images_persistent(folder):
    image_loader(folder, persistent_workers=True)


def run_torch_shared_file(folder):
    import torch
    torch.arange(1 << 16, dtype=torch.float32).numpy().tofile(folder / "x.bin")
    mapped = torch.from_file(str(folder / "x.bin"), shared=True, size=1 << 16)
    mapped += 1


# Processes and event loops

def run_joblib(folder):
    import joblib
    data = arrays(1, 200_000)[0]
    with joblib.parallel_config(temp_folder=str(folder)):
        sums = joblib.Parallel(n_jobs=2, max_nbytes=1 << 20)(joblib.delayed(sum_of_rows)(data, i) for i in range(4))
    joblib.dump(sums, folder / "sums.joblib")
    joblib.load(folder / "sums.joblib")


def sum_of_rows(data, start):
    return float(data[start::4].sum())


def run_sklearn(folder):
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    data = arrays(1, 400)[0]
    labels = (data[:, 0] > 0).astype(int)
    dump_svmlight_file(data, labels, str(folder / "d.svm"))
    matrix, labels = load_svmlight_file(str(folder / "d.svm"))
    cross_val_score(LogisticRegression(), matrix, labels, n_jobs=2, cv=2)


def run_dask(folder):
    from dask.distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(folder)) as cluster, Client(cluster) as client:
        assert sum(client.gather(client.map(size_after_write, [str(folder / f"{i}.bin") for i in range(8)]))) == 8 * 100_000


def size_after_write(path):
    Path(path).write_bytes(bytes(100_000))
    return len(Path(path).read_bytes())


def run_xgboost(folder):
    import xgboost
    data = arrays(1)[0]
    booster = xgboost.train({"nthread": 2}, xgboost.DMatrix(data, data[:, 0]), 5)
    booster.save_model(folder / "m.json")
    xgboost.Booster(model_file=folder / "m.json")


def run_aiofiles(folder):
    import asyncio

    import aiofiles

    async def write_and_read(i):
        async with aiofiles.open(folder / f"{i}", "wb") as file:
            await file.write(bytes(10_000))
        async with aiofiles.open(folder / f"{i}", "rb") as file:
            return len(await file.read())

    async def all_of_them():
        process = await asyncio.create_subprocess_exec("cat", str(folder / "0"), stdout=asyncio.subprocess.PIPE)
        return await asyncio.gather(*map(write_and_read, range(20))), await process.communicate()

    (folder / "0").write_bytes(bytes(10_000))
    asyncio.run(all_of_them())


def run_uvloop(folder):
    import asyncio

    import uvloop

    async def echo():
        async def serve(reader, writer):
            writer.write(await reader.readexactly(1000))
            await writer.drain()
            writer.close()
        server = await asyncio.start_unix_server(serve, str(folder / "socket"))
        reader, writer = await asyncio.open_unix_connection(str(folder / "socket"))
        writer.write(bytes(1000))
        assert len(await reader.read(1000)) == 1000
        writer.close()
        server.close()

    uvloop.run(echo())


def run_fsspec(folder):
    import fsspec
    (folder / "source.bin").write_bytes(bytes(range(256)) * 1000)
    for kind in ("filecache", "simplecache"):
        with fsspec.open(f"{kind}::file://{folder}/source.bin", **{kind: {"cache_storage": str(folder / kind)}}) as file:
            assert len(file.read()) == 256_000


def run_archives(folder):
    import shutil
    import tarfile
    import zipfile
    (folder / "tree").mkdir()
    for i in range(30):
        (folder / "tree" / f"{i}").write_bytes(bytes(i * 1000))
    with tarfile.open(folder / "t.tar.gz", "w:gz") as archive:
        archive.add(folder / "tree", "tree")
    with zipfile.ZipFile(folder / "t.zip", "w") as archive:
        archive.write(folder / "tree" / "29")
    shutil.copytree(folder / "tree", folder / "copy")
    checked = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.12, and updates of older ones
    shutil.unpack_archive(folder / "t.tar.gz", folder / "unpacked", **checked)


def run_video(folder):
    import av
    import numpy as np
    with av.open(str(folder / "v.mp4"), "w") as out:
        stream = out.add_stream("mpeg4", rate=24)
        stream.width = stream.height = 64
        for i in range(24):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(np.full((64, 64, 3), i, np.uint8))))
        out.mux(stream.encode(None))
    with av.open(str(folder / "v.mp4")) as video:
        video.seek(500_000)
        assert sum(1 for _ in video.decode(video=0)) > 0


def run_subprocesses(folder):
    import subprocess
    for i in range(5):
        with open(folder / f"{i}.txt", "wb") as out:
            subprocess.run(["seq", "1000"], stdout=out, check=True)
        subprocess.run(f"wc -c < {folder}/{i}.txt | cat", shell=True, check=True, stdout=subprocess.DEVNULL)


def run_temporary_files(folder):
    import tempfile
    os.environ["TMPDIR"] = str(folder)
    for make in (tempfile.TemporaryFile, tempfile.NamedTemporaryFile, tempfile.SpooledTemporaryFile):
        with make(dir=folder) as file:
            file.write(bytes(100_000))
            file.seek(0)
            assert len(file.read()) == 100_000


def run_multiprocessing(folder):
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert sum(pool.map(size_after_write, [str(folder / f"{i}") for i in range(12)])) == 12 * 100_000


def run_odd_names(folder):
    names = [b"with blank", b"new\nline", b'quo"te', b"\xff\xfe", b"%s%n", "ü".encode(), b"-dash", b"$(x)"]
    for name in names:
        path = os.fsencode(folder) + b"/" + name
        with open(path, "wb") as file:
            file.write(name * 10)
        with open(path, "rb") as file:
            assert file.read() == name * 10


def main():
    step, name, folder = sys.argv[1:]
    function = globals().get(f"{step}_{name}")
    if function is None and step == "run":
        sys.exit(f"programs.py: no program '{name}'")
    if function is not None:
        function(Path(folder))


if __name__ == "__main__":
    main()
