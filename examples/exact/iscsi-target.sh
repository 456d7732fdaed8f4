#!/bin/sh -e
# The iSCSI target of the kernel (LIO), set up through configfs.

. "$(dirname "$0")/disk.sh"

target=/sys/kernel/config/target
mkdir -p $target/core/iblock_0/disk
echo udev_path=/dev/nullb1 > $target/core/iblock_0/disk/control
echo 1 > $target/core/iblock_0/disk/enable
group=$target/iscsi/iqn.2026-01.lab:disk/tpgt_1
mkdir -p $group
mkdir $group/np/10.77.0.2:3260
mkdir $group/lun/lun_0
ln -s $target/core/iblock_0/disk $group/lun/lun_0/disk
echo 0 > $group/attrib/authentication
echo 1 > $group/attrib/generate_node_acls
echo 0 > $group/attrib/demo_mode_write_protect
echo 1 > $group/enable
