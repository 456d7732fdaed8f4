#!/bin/sh -e
# The iSCSI initiator of the kernel, and fio with four requests at a time on its disk.

iscsistart -i iqn.2026-01.lab:client -t iqn.2026-01.lab:disk -g 1 -a 10.77.0.2 -p 3260
until [ -b /dev/sda ]; do sleep 0.01; done
# fio reads the processor's own clock unless it is told not to: in virtual time that clock means nothing.
fio --name=read --filename=/dev/sda --direct=1 --rw=randread --bs=8k --ioengine=libaio --iodepth=4 --number_ios=1000 \
    --clocksource=clock_gettime --randseed=1 --thread --output-format=json --output=/run/tailrace/out/fio.json
