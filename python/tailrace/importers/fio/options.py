"""Options of fio and their meaning here. Names are those of fio 3.39's options.c, with their
aliases."""

from tailrace.importers.remarks import Verdict

ALIASES = {
    "readwrite": "rw",
    "io_limit": "io_size",
    "fill_fs": "fill_device",
    "fileoffset": "offset",
    "blocksize": "bs",
    "ba": "blockalign",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
    "startup_delay": "startdelay",
    "disable_bw": "disable_bw_measurement",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "ss_interval": "steadystate_check_interval",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
}
READ = frozenset(
    [
        *(
            "rw",
            "ioengine",
            "iodepth",
            "size",
            "io_size",
            "bs",
            "bsrange",
            "bssplit",
            "number_ios",
            "loops",
        ),
        *(
            "numjobs",
            "startdelay",
            "runtime",
            "time_based",
            "ramp_time",
            "thinktime",
            "rate",
            "rate_iops",
        ),
        *(
            "rate_process",
            "fsync",
            "fdatasync",
            "sync",
            "rwmixread",
            "rwmixwrite",
            "percentage_random",
        ),
        *(
            "percentage_sequential",
            "random_distribution",
            "stonewall",
            "filename",
            "kb_base",
            "direct",
        ),
        *("buffered", "name", "filesize", "offset", "thinktime_blocks", "nrfiles", "directory"),
    ]
)
"""Options that the importer reads."""

_REPORT = "how fio reports or checks; the report of a run has all of it"
_PROCESS = "how fio starts its processes and lays out its files"
_CONTENT = "contents of blocks are not part of the model"
_ORDER = "the order of addresses has no effect beyond `access`"
_NONE: dict[str, str] = {
    _REPORT: "description group_reporting new_group gtod_reduce gtod_cpu disable_lat disable_clat "
    "disable_slat disable_bw_measurement clat_percentiles lat_percentiles slat_percentiles "
    "percentile_list significant_figures disk_util unified_rw_reporting write_bw_log write_lat_log "
    "write_iops_log write_hist_log log_entries log_avg_msec log_hist_msec log_hist_coarseness "
    "log_window_value log_max_value log_offset log_prio log_issue_time log_compression "
    "log_compression_cpus log_store_compressed log_alternate_epoch log_unix_epoch "
    "log_alternate_epoch_clock_id per_job_logs block_error_percentiles bwavgtime iopsavgtime stats "
    "clocksource job_start_clock_id error_dump profile unit_base write_iolog",
    _PROCESS: "thread comm nice prio prioclass priohint cpumask cpus_allowed cpus_allowed_policy "
    "numa_cpu_nodes numa_mem_policy mem iomem iomem_align mem_align hugepage-size lockmem uid gid "
    "cgroup cgroup_nodelete cgroup_weight filename_format unique_filename lockfile opendir "
    "openfiles file_service_type filetype fallocate fadvise_hint create_serialize create_fsync "
    "create_on_open create_only allow_file_create allow_mounted_write pre_read unlink "
    "unlink_each_loop overwrite file_append invalidate exec_prerun exec_postrun ioscheduler "
    "end_fsync fsync_on_close end_syncfs exitall exit_what exitall_on_error continue_on_error "
    "ignore_error serialize_overlap io_submit_mode hugepage_size gpu_dev_id gpu_dev_ids write_hint "
    "atomic thinkcycles thinktime_spin",
    _CONTENT: "zero_buffers refill_buffers scramble_buffers buffer_pattern "
    "buffer_compress_percentage buffer_compress_chunk dedupe_percentage dedupe_global dedupe_mode "
    "dedupe_working_set_percentage verify do_verify verify_policy verifysort verifysort_nr "
    "verify_interval verify_offset verify_pattern verify_pattern_interval verify_fatal verify_dump "
    "verify_async verify_backlog verify_backlog_batch verify_async_cpus experimental_verify "
    "verify_state_load verify_state_save verify_write_sequence verify_header_seed verify_only",
    _ORDER: "norandommap softrandommap randrepeat allrandrepeat randseed random_generator "
    "offset_align offset_increment blockalign bs_is_seq_rand rw_sequencer num_range sprandom "
    "spr_num_regions spr_op spr_cs random_sequence_stride rwmixcycle",
}
_MISSING: dict[str, str] = {
    "requests are submitted one by one": "iodepth_batch iodepth_batch_complete_min "
    "iodepth_batch_complete_max iodepth_low",
    "the job runs from its start: the arms of a scenario do not wait for each other": "wait_for",
    "a job ends after its time or bytes": "fill_device ramp_size max_latency latency_target "
    "latency_window latency_percentile latency_run steadystate steadystate_duration "
    "steadystate_ramp_time steadystate_check_interval",
    "jobs are not coupled: give each a rate": "flow flow_id flow_watermark flow_sleep rate_min "
    "rate_iops_min",
    "rates are kept over the whole run": "rate_cycle rate_ignore_thinktime thinktime_blocks_type "
    "thinktime_iotime",
    "traces are not replayed": "read_iolog read_iolog_chunked replay_no_stall replay_redirect "
    "replay_scale replay_align replay_time_scale replay_skip merge_blktrace_file "
    "merge_blktrace_scalars merge_blktrace_iters",
    "zoned devices are not modelled": "zonemode zonesize zonecapacity zonerange zoneskip "
    "read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits zone_reset_threshold "
    "zone_reset_frequency recover_zbd_write_error write_zone_remainder fdp dataplacement "
    "data_placement plid_select fdp_pli_select plids fdp_pli dp_scheme",
    "trims are not modelled": "trim_percentage trim_verify_zero trim_backlog trim_backlog_batch",
    "writes are flushed by number only (flush_every)": "sync_file_range write_barrier",
    "addresses and sizes are multiples of the sector": "bs_unaligned",
}
FATES: dict[str, tuple[Verdict, str]] = {
    **{name: ("no-effect", words) for words, names in _NONE.items() for name in names.split()},
    **{
        name: ("not-modelled", words) for words, names in _MISSING.items() for name in names.split()
    },
}
"""Options without a counterpart."""
ENGINE_OPTIONS = frozenset(
    [
        *(
            "apptag",
            "apptag_mask",
            "arguments",
            "bindname",
            "brick",
            "busy_poll",
            "cdb_len",
            "chunk_size",
        ),
        *("clientname", "clustername", "cmd_type", "cmdprio", "cmdprio_class", "cmdprio_bssplit"),
        *(
            "cmdprio_hint",
            "cmdprio_percentage",
            "conf",
            "cpuchunks",
            "cpuload",
            "cpumode",
            "cuda_io",
            "deac",
        ),
        *(
            "donorname",
            "exit_on_io_done",
            "fixedbufs",
            "force_async",
            "grace_time",
            "hdfs_use_direct",
        ),
        *("hdfsdirectory", "hipri", "hipri_percentage", "hostname", "http_host", "http_mode"),
        *("http_object_mode", "http_pass", "http_s3_key", "http_s3_keyid", "http_s3_region"),
        *("http_s3_security_token", "http_s3_sse_customer_algorithm", "http_s3_sse_customer_key"),
        *(
            "http_s3_storage_class",
            "http_swift_auth_token",
            "http_user",
            "http_verbose",
            "https",
            "initiator",
        ),
        *("inplace", "interface", "libaio_vectored", "libblkio_driver"),
        *("libblkio_force_enable_completion_eventfd", "libblkio_num_entries", "libblkio_path"),
        *(
            "libblkio_pre_connect_props",
            "libblkio_pre_start_props",
            "libblkio_queue_size",
            "libblkio_vectored",
        ),
        *(
            "libblkio_wait_mode",
            "libblkio_write_zeroes_on_trim",
            "listen",
            "md_per_io_size",
            "mss",
            "namenode",
        ),
        *(
            "nfs_url",
            "no_completion_thread",
            "nodelay",
            "nonvectored",
            "nowait",
            "object_class",
            "pi_act",
        ),
        *("pi_chk", "pingpong", "pool", "port", "program", "protocol", "rbd_encryption_format"),
        *(
            "rbd_encryption_passphrase",
            "rbdname",
            "read_mode",
            "readfua",
            "registerfiles",
            "rocm_io",
        ),
        *("sg_write_mode", "single-instance", "single_instance", "skip_bad", "sqthread_poll"),
        *(
            "sqthread_poll_cpu",
            "stat_type",
            "std_redirect",
            "stream_id",
            "svcl",
            "thp",
            "touch_objects",
            "ttl",
        ),
        *(
            "spdk_json_conf",
            "spdk_conf",
            "spdk_mem",
            "spdk_single_seg",
            "spdk_rpc_listen_addr",
            "env_context",
        ),
        *(
            "log_flags",
            "disable_pcie_sgl_merge",
            "enable_sgl",
            "sge_size",
            "bit_bucket_data_len",
            "mem_size_mb",
        ),
        *(
            "shm_id",
            "enable_wrr",
            "arbitration_burst",
            "low_weight",
            "medium_weight",
            "high_weight",
            "wrr_priority",
        ),
        *(
            "hostnqn",
            "pi_act",
            "pi_chk",
            "md_per_io_size",
            "apptag",
            "apptag_mask",
            "digest_enable",
            "zone_append",
        ),
        *(
            "print_qid_mappings",
            "enable_vmd",
            "spdk_tracing",
            "spdk_max_io_size",
            "initial_zone_reset",
        ),
        *(
            "uncached",
            "uri",
            "userspace_reap",
            "verb",
            "verify_bytchk",
            "verify_mode",
            "volume",
            "window_size",
        ),
        *("write_mode", "writefua", "xnvme_admin", "xnvme_async", "xnvme_be", "xnvme_dev_nsid"),
        *(
            "xnvme_dev_subnqn",
            "xnvme_iovec",
            "xnvme_mem",
            "xnvme_sync",
            "cufile",
            "libhipfile",
            "hipfile",
        ),
    ]
)
"""Options of engines; the model has the requests that an engine submits, not how it does."""
KNOWN = sorted(READ | set(FATES) | ENGINE_OPTIONS | set(ALIASES))

SYNCHRONOUS = frozenset(
    [
        "sync",
        "psync",
        "vsync",
        "pvsync",
        "pvsync2",
        "mmap",
        "splice",
        "mtd",
        "dev-dax",
        "libpmem",
        "libzbc",
    ]
)
"""Engines with one request under way of each job."""
ASYNCHRONOUS = frozenset(
    [
        *(
            "libaio",
            "posixaio",
            "solarisaio",
            "windowsaio",
            "io_uring",
            "io_uring_cmd",
            "sg",
            "xnvme",
        ),
        *("libblkio", "libcufile", "libhipfile", "null", "cpp_null", "spdk", "spdk_bdev"),
    ]
)
EXTERNAL = "external"
"""Prefix of an engine in a shared object of its own (`external:/path/engine.so`), which fio loads
with its depth."""
ALIASES_OF_LIBAIO = ("aio", "linuxaio")
"""Any name that begins so is libaio (ioengines.c, `dlopen_ioengine`)."""
SPDK = ("spdk", "spdk_bdev")
"""Engines of SPDK, from its plugins: they drive NVMe devices and block devices of their own without
the kernel."""
TRANSPORTS = {"TCP": "nvme-tcp"}
"""Protocols by SPDK's `trtype`, where the kind `storage` has them."""
NETWORKED = {"nbd": "nbd", "libiscsi": "iscsi"}
"""Engines that reach the device over a network, with the protocol."""
OTHER_ENGINES: dict[str, str] = {
    **dict.fromkeys(
        ["net", "netsplice", "rdma"],
        "traffic without a device: write a workload of the kind `stream`",
    ),
    **dict.fromkeys(
        [
            "rados",
            "rbd",
            "http",
            "nfs",
            "gfapi",
            "gfapi_async",
            "libhdfs",
            "dfs",
            "ime_aio",
            "ime_psync",
            "ime_psyncv",
        ],
        "a distributed store is not modelled",
    ),
    **dict.fromkeys(
        [
            "falloc",
            "ftruncate",
            "filecreate",
            "filestat",
            "filedelete",
            "dircreate",
            "dirstat",
            "dirdelete",
            "e4defrag",
        ],
        "operations of a file system are not modelled",
    ),
    **dict.fromkeys(["cpuio", "exec", "page_fault"], "it has no requests to a device"),
}
ENGINES = sorted([*SYNCHRONOUS, *ASYNCHRONOUS, *NETWORKED, *OTHER_ENGINES])
ENGINE_USUAL = "psync"
"""fio's default on Linux."""
