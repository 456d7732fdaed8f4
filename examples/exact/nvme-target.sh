#!/bin/sh -e
# The NVMe target of the kernel over TCP, set up through configfs.

. "$(dirname "$0")/disk.sh"

target=/sys/kernel/config/nvmet
name=nqn.2026-01.lab:disk
mkdir $target/subsystems/$name
echo 1 > $target/subsystems/$name/attr_allow_any_host
mkdir $target/subsystems/$name/namespaces/1
echo /dev/nullb1 > $target/subsystems/$name/namespaces/1/device_path
echo 1 > $target/subsystems/$name/namespaces/1/enable
mkdir $target/ports/1
echo tcp > $target/ports/1/addr_trtype
echo ipv4 > $target/ports/1/addr_adrfam
echo 10.77.0.2 > $target/ports/1/addr_traddr
echo 4420 > $target/ports/1/addr_trsvcid
ln -s $target/subsystems/$name $target/ports/1/subsystems/$name
