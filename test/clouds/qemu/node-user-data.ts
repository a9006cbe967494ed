/**
 * User data of a VM without kubelet: registers its Node, posts that it is Ready, and renews its Lease, over HTTP and with busybox. The API server is that of the computer, which the VM
 * reaches through the private network of QEMU at 10.0.2.2. It serves clients of its own computer only, hence the header Host.
 *
 * The Node has no provider id: it belongs to its Machine by the UUID of the VM's firmware.
 */
export const nodeUserData = (port: number): string => `#!/bin/sh
request() {
  printf '%s %s HTTP/1.1\\r\\nHost: 127.0.0.1:${port}\\r\\nContent-Type: %s\\r\\nContent-Length: %s\\r\\nConnection: close\\r\\n\\r\\n%s' \\
    "$1" "$2" "$3" "\${#4}" "$4" | nc 10.0.2.2 ${port} | head -n 1
}
create() { request POST "$1" application/json "$2"; }
merge() { request PATCH "$1" application/merge-patch+json "$2"; }
now() { date -u +%Y-%m-%dT%H:%M:%S.000000Z; }

NODE=$(hostname)
STARTED=$(date -u +%Y-%m-%dT%H:%M:%SZ)
LEASES=/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases
INFO='"architecture":"amd64","operatingSystem":"linux","kubeletVersion":"v0.0.0","kubeProxyVersion":"","containerRuntimeVersion":"none://0","osImage":"busybox","bootID":"","machineID":"","kernelVersion":"'$(uname -r)'","systemUUID":"'$SYSTEM_UUID'"'
READY='"type":"Ready","status":"True","reason":"KubeletReady","message":"busybox runs","lastHeartbeatTime":"'$STARTED'","lastTransitionTime":"'$STARTED'"'

create /api/v1/nodes '{"apiVersion":"v1","kind":"Node","metadata":{"name":"'$NODE'"}}'
create $LEASES '{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"'$NODE'"},"spec":{"holderIdentity":"'$NODE'","leaseDurationSeconds":40,"renewTime":"'$(now)'"}}'
merge /api/v1/nodes/$NODE/status '{"status":{"conditions":[{'"$READY"'}],"nodeInfo":{'"$INFO"'}}}'
while sleep 2; do
  merge $LEASES/$NODE '{"spec":{"renewTime":"'$(now)'"}}' > /dev/null
done
`;
