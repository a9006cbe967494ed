import { expect, it } from "vitest";
import { createAzureDriver } from "./driver.ts";
import { aContext } from "./testing/azure-cloud.ts";

it("ids of volumes are those of managed disks, and of nothing else", async () => {
  const volumes = [
    { azureDisk: { diskName: "pvc-1", diskURI: "/disks/pvc-1" } },
    { csi: { driver: "disk.csi.azure.com", volumeHandle: "/subscriptions/s/disks/pvc-2" } },
    { csi: { driver: "disk.csi.azure.com", volumeHandle: "" } },
    { csi: { driver: "file.csi.azure.com", volumeHandle: "share" } },
    { nfs: { server: "s" } },
    { azureDisk: { diskName: 7 } },
    {},
  ];
  await expect(createAzureDriver().getVolumeIds({ volumes }, aContext())).resolves.toEqual({
    volumeIds: ["pvc-1", "/subscriptions/s/disks/pvc-2", undefined, undefined, undefined, undefined, undefined],
  });
});
