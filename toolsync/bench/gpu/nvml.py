"""NVIDIA's own library, by `nvidia-ml-py`: what `nvidia-smi` itself asks.

`used` of version 2 is what `nvidia-smi` prints; that of version 1 counts what the driver reserves too, some hundred
MiB, so the two are never held against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from toolsync.bench.gpu.reading import Holder, Reading, UnreadableError, known_mib
from toolsync.bench.record import GpuSource

_MIB = 2**20
UNIFIED = "unified"


class Nvml:
    """The GPUs of this machine, and the instances of those that are cut in parts (MIG)."""

    source: GpuSource = "nvml"

    def __init__(self) -> None:
        self.way = ""
        self.notes: tuple[str, ...] = ()
        self._nvml: Any = None
        self._devices: list[_Device] = []

    def open(self) -> None:
        """Load the library, and find what there is, unless that is done.

        Raises:
            UnreadableError: there is no library, no driver or no GPU.
        """
        if self._devices:
            return
        try:
            self._nvml = import_module("pynvml")
        except ImportError as error:
            raise UnreadableError("the package nvidia-ml-py is not installed") from error
        try:
            self._nvml.nvmlInit()
            self._devices = list(self._found())
        except self._nvml.NVMLError as error:
            raise UnreadableError(self._reason(error)) from error
        if not self._devices:
            raise UnreadableError("the NVIDIA driver knows of no GPU here")

    def _found(self) -> Iterator[_Device]:
        nvml = self._nvml
        for index in range(nvml.nvmlDeviceGetCount()):
            whole = nvml.nvmlDeviceGetHandleByIndex(index)
            parts = self._parts(whole)
            for number, handle in enumerate(parts or [whole]):
                called = f"{index}:{number}" if parts else str(index)
                yield _Device(handle, called, self._uuid(handle, called), self._name(handle))

    def _parts(self, whole: Any) -> list[Any]:
        """The instances that a GPU is cut into; none where it is whole. The whole may say nothing without privilege."""
        nvml, parts = self._nvml, []
        try:
            if not nvml.nvmlDeviceGetMigMode(whole)[0]:
                return []
            for number in range(nvml.nvmlDeviceGetMaxMigDeviceCount(whole)):
                with suppress(nvml.NVMLError_NotFound):  # numbers have gaps
                    parts.append(nvml.nvmlDeviceGetMigDeviceHandleByIndex(whole, number))
        except nvml.NVMLError:  # a card or a driver from before there were any
            return []
        return parts

    def _uuid(self, handle: Any, called: str) -> str:
        try:
            return str(self._nvml.nvmlDeviceGetUUID(handle))
        except self._nvml.NVMLError:
            return called

    def _name(self, handle: Any) -> str:
        try:
            return str(self._nvml.nvmlDeviceGetName(handle))
        except self._nvml.NVMLError:
            return ""

    def read(self) -> Sequence[Reading]:
        """Every GPU, now."""
        return [self._reading(device) for device in self._devices]

    def _reading(self, device: _Device) -> Reading:
        try:
            info = self._memory(device)
        except self._nvml.NVMLError_NotSupported:
            return self._unified(device)
        except self._nvml.NVMLError as error:
            return device.reading(None, None, why=self._reason(error))
        used, total, reserved = (_mib(getattr(info, name, None)) for name in ("used", "total", "reserved"))
        return device.reading(used, total, reserved, why="" if used is not None else "NVML does not know")

    def _memory(self, device: _Device) -> Any:
        """Version 2; version 1 where there is no other: old drivers, and WSL, whose version 2 fails.

        The way is chosen once: the two count differently.
        """
        nvml = self._nvml
        if self.way != "v1":
            try:
                info = nvml.nvmlDeviceGetMemoryInfo(device.handle, version=nvml.nvmlMemory_v2)
            except nvml.NVMLError:
                if self.way == "v2":
                    raise
            else:
                self.way = "v2"
                return info
        info = nvml.nvmlDeviceGetMemoryInfo(device.handle)
        if self.way != "v1":
            self.way = "v1"
            self.notes += ("This driver's figure counts what it reserves itself, some hundred MiB (NVML version 1).",)
        return info

    def _unified(self, device: _Device) -> Reading:
        """A GPU that shares the system's memory (Grace, DGX Spark, Jetson) has none of its own to speak of."""
        if self.way not in ("", UNIFIED):  # another GPU here has: two kinds of figures are not mixed
            return device.reading(None, None, why="unsupported: unified memory")
        import psutil

        if self.way == "":
            self.way = UNIFIED
            self.notes += (
                "This GPU shares the system's memory: the figures are the use of the whole machine's RAM (unified).",
            )
        memory = psutil.virtual_memory()
        return device.reading((memory.total - memory.available) / _MIB, memory.total / _MIB)

    def holders(self) -> Sequence[Holder] | None:
        """Who has memory on which GPU; None where the driver names nobody at all."""
        found = [holder for device in self._devices for holder in self._held(device)]
        return found or None

    def _held(self, device: _Device) -> Iterator[Holder]:
        seen: set[int] = set()
        for kind in ("Compute", "Graphics"):
            for process in self._processes(device, kind):
                if process.pid not in seen:
                    seen.add(process.pid)
                    used = process.usedGpuMemory  # None: Windows manages the memory, and does not tell (WDDM)
                    yield Holder(device.uuid, process.pid, None if used is None else used / _MIB)

    def _processes(self, device: _Device, kind: str) -> Sequence[Any]:
        """By the newest function that this driver has; asked without a version, the package refuses older drivers."""
        for version in ("v3", "v2"):
            ask = getattr(self._nvml, f"nvmlDeviceGet{kind}RunningProcesses_{version}", None)
            with suppress(self._nvml.NVMLError):
                if ask is not None:
                    found: Sequence[Any] = ask(device.handle)
                    return found
        return ()

    def close(self) -> None:
        """Let go of the library."""
        if self._nvml is not None:
            with suppress(self._nvml.NVMLError):
                self._nvml.nvmlShutdown()

    def _reason(self, error: Exception) -> str:
        nvml = self._nvml
        if isinstance(error, nvml.NVMLError_LibraryNotFound):
            return "no library of an NVIDIA driver is here"
        if isinstance(error, nvml.NVMLError_DriverNotLoaded):
            return "the NVIDIA driver is not loaded"
        return f"NVML: {error}"


def _mib(count: int | None) -> float | None:
    return None if count is None else known_mib(count / _MIB)


class _Device:
    """A GPU, or an instance of one, and its handle."""

    def __init__(self, handle: Any, index: str, uuid: str, name: str) -> None:
        self.handle, self.uuid = handle, uuid
        self._index, self._name = index, name

    def reading(
        self, used: float | None, total: float | None, reserved: float | None = None, *, why: str = ""
    ) -> Reading:
        return Reading(self.uuid, used, total, reserved, self._name, self._index, why)
