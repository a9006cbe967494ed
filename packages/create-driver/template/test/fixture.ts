import { defineFixture } from "@millwright/conformance";
import driver from "../src/index.ts";
import { pageSize, startDataCenter } from "./data-center.ts";

/** What the conformance suite needs to know of the cloud. Each part that you add lets it check more. */
export default defineFixture(async () => {
  const { url, vms, add, tokens, close } = await startDataCenter("first-token");
  const classOf = (change: object = {}) => ({
    providerSpec: { endpoint: url, cluster: "conformance", size: "small", ...change },
  });
  /** A VM that another client creates, until the end of a check. */
  const stage = (token: string, tags: Readonly<Record<string, string>>) => {
    const { id } = add({ token, size: "small", userData: "", tags });
    return { providerId: `my-cloud:///${id}`, end: () => void vms.delete(id) };
  };
  return {
    driver,
    machineClass: classOf(),
    secret: { token: "first-token" },
    pageSize,
    endpoint: { url, through: (endpoint) => ({ machineClass: classOf({ endpoint }) }) },
    rejectedSecret: { token: "wrong-token" },
    rotateSecret: () => {
      tokens.delete("first-token");
      tokens.add("second-token");
      return { token: "second-token" };
    },
    otherClass: classOf({ size: "large" }),
    otherClusterClass: classOf({ cluster: "other" }),
    ownVolume: { spec: { csi: { driver: "csi.my-cloud.example", volumeHandle: "volume-1" } }, id: "volume-1" },
    inventory: () =>
      [...vms.values()].map(({ id, tags, userData }) => ({
        id,
        tags,
        machineName: tags["machine"] ?? "",
        userData: Buffer.from(userData, "base64"),
      })),
    resources: () => [...vms.keys()],
    stage: {
      vmOfOtherOwner: async (name) => stage(`other-${name}`, { machine: name }),
      secondVm: async (name) => {
        const vm = [...vms.values()].find(({ tags }) => tags["machine"] === name);
        return stage(`second-${name}`, vm?.tags ?? {});
      },
    },
    // Remove a line as soon as it is not true of your cloud, and add what the suite then asks for.
    lacks: {
      classTags: "the class has no tags",
      references: "the class names nothing that can be missing",
      quota: "there is none",
      parts: "a VM is all there is",
      dataVolumes: "there are no volumes",
      terminationProtection: "there is none",
    },
    close,
  };
});
