"""The host computers that tests boot Linux on, as parameters of examples/host/host.lss."""

CHECKED = "checked=true"
COHERENT = "system_kind=coherent_system"
DISK = "disks=[disk_image]"
LEVEL_2 = "l2_size=256 KiB"
LARGE_WAYS = ["icache_size=128 KiB", "dcache_size=128 KiB", "ways=2"]  # of 64 KiB
NIC = "cards=[tigon2_slot]"
SCSI = "cards=[scsi_card]"
FAST_CPU = "system.cpu.fast"  # the functional processor of `fast`, which holds the RAM


def _module(name: str, settings: dict[str, object]) -> str:
    """A module with settings, as -D takes it."""
    return f"{name}({', '.join(f'{key} = {value}' for key, value in settings.items())})" if settings else name


def wide(width: int = 4, **settings: object) -> str:
    """An out-of-order processor."""
    return "processor=" + _module("wide_processor", {"width": width, **settings})


def vpes(count: int) -> str:
    """In-order virtual processing elements of one processor."""
    return "processor=" + _module("vpe_processor", {"vpes": count})


def fast(options: list[str], **settings: object) -> list[str]:
    """A machine with these options whose processor is the detailed one next to a functional one."""
    detailed = [one.removeprefix("processor=") for one in options if one.startswith("processor=")]
    others = [one for one in options if not one.startswith("processor=")]
    return ["processor=" + _module("fast_processor", {**settings, **({"detailed": detailed[0]} if detailed else {})}), *others]


def commit(drive: str, file: object) -> list[object]:
    """The options that write a disk to a file at the end: `vda` in a virtio slot, or `sda` on the first card."""
    return ["--disk_commit", file] if drive == "vda" else ["--set", f"slots.card[0].commit={file}"]
