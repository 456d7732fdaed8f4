#!/bin/sh -e
# storage-requests.sh nvme-tcp|iscsi [OPTIONS]: attaches the disk of the host 10.77.0.2, and asks for one thing after the other.

case $1 in
nvme-tcp)
    name=nqn.2026-01.lab:disk
    echo "transport=tcp,traddr=10.77.0.2,trsvcid=4420,nqn=$name,hostnqn=nqn.2026-01.lab:client$2" > /dev/nvme-fabrics
    disk=/dev/nvme0n1
    ;;
iscsi)
    iscsistart -i iqn.2026-01.lab:client -t iqn.2026-01.lab:disk -g 1 -a 10.77.0.2 -p 3260 $2
    disk=/dev/sda
    ;;
esac
until [ -b $disk ]; do sleep 0.01; done
sleep 1
for bytes in 4k 1M; do
    dd if=$disk of=/dev/null bs=$bytes count=1 iflag=direct
done
for bytes in 4k 16k 20k 128k 300k 1M; do
    dd if=/dev/zero of=$disk bs=$bytes count=1 oflag=direct
done
