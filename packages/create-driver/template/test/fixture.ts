import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineFixture } from "@millwright/conformance";
import { createVm, deleteVm, listVms } from "../src/cloud.ts";
import driver from "../src/index.ts";

const { signal } = new AbortController();

/** What the conformance suite needs to know of the cloud. Each part that you add lets it check more. */
export default defineFixture(async () => {
  const folder = await mkdtemp(join(tmpdir(), "my-cloud-"));
  const cloud = { folder };
  const classOf = (change: object = {}) => ({
    providerSpec: { folder, cluster: "conformance", size: "small", ...change },
  });
  const vms = () => listVms(cloud, signal);
  /** A VM that another client creates, until the end of a check. */
  const stage = async (token: string, tags: Readonly<Record<string, string>>) => {
    const { id } = await createVm(cloud, { token, size: "small", userData: "", tags }, signal);
    return { providerId: `my-cloud:///${id}`, end: () => deleteVm(cloud, id, signal) };
  };
  return {
    driver,
    machineClass: classOf(),
    secret: {},
    otherClass: classOf({ size: "large" }),
    otherClusterClass: classOf({ cluster: "other" }),
    ownVolume: { spec: { csi: { driver: "csi.my-cloud.example", volumeHandle: "volume-1" } }, id: "volume-1" },
    inventory: async () =>
      (await vms()).map(({ id, tags, userData }) => ({
        id,
        tags,
        machineName: tags["machine"] ?? "",
        userData: Buffer.from(userData, "base64"),
      })),
    resources: async () => (await vms()).map(({ id }) => id),
    stage: {
      vmOfOtherOwner: (name) => stage(`other-${name}`, { machine: name }),
      secondVm: async (name) => {
        const vm = (await vms()).find(({ tags }) => tags["machine"] === name);
        return stage(`second-${name}`, vm?.tags ?? {});
      },
    },
    // Remove a line as soon as it is not true of your cloud, and add what the suite then asks for.
    lacks: {
      endpoint: "VMs are files, there is no HTTP",
      credentials: "files need none",
      classTags: "the class has no tags",
      references: "the class names nothing that can be missing",
      quota: "there is none",
      pages: "lists have one page",
      parts: "a VM is one file",
      dataVolumes: "there are no volumes",
      terminationProtection: "files are not protected",
    },
    close: () => rm(folder, { recursive: true }),
  };
});
