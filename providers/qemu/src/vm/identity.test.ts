import { describe, expect, it } from "vitest";
import {
  folderNameFromProviderId,
  folderNameOf,
  instanceIdOf,
  macAddressOf,
  systemUuidOf,
  vmIdentityOf,
} from "./identity.ts";

const longName = `${"m".repeat(200)}-1`;

describe("the identity of a VM", () => {
  it("is the same in every call, and another one for another cluster, name or UID", () => {
    const identity = vmIdentityOf("a", { name: "pool-1", uid: "1" });
    expect(vmIdentityOf("a", { name: "pool-1", uid: "1" })).toEqual(identity);
    expect(identity.nodeName).toBe("pool-1");
    expect(vmIdentityOf("b", { name: "pool-1", uid: "1" }).folderName).not.toBe(identity.folderName);
    expect(vmIdentityOf("a", { name: "pool-2", uid: "1" }).folderName).not.toBe(identity.folderName);
    const again = vmIdentityOf("a", { name: "pool-1", uid: "2" });
    expect(again.folderName).toBe(identity.folderName);
    expect(again.providerId).not.toBe(identity.providerId);
  });

  it("has a provider id that names its folder, whose last part is unique", () => {
    const { folderName, providerId } = vmIdentityOf("home", { name: "pool-1", uid: "1" });
    expect(providerId).toMatch(/^qemu:\/\/\/home\/pool-1-[0-9a-f]{12}-[0-9a-f]{8}$/);
    expect(folderNameFromProviderId(providerId)).toBe(folderName);
    expect(instanceIdOf(providerId)).toBe(providerId.slice("qemu:///home/".length));
  });

  it.each(["aws:///eu/i-1", "qemu:///home/../../etc", "qemu:///home/.new.x-0123456789ab-01234567", "qemu:///a/b/c"])(
    "has no folder for the provider id %s",
    (providerId) => {
      expect(folderNameFromProviderId(providerId)).toBeUndefined();
    },
  );

  it("keeps paths of sockets and host names short for long names", () => {
    expect(vmIdentityOf("a", { name: longName, uid: "1" }).nodeName).toHaveLength(63);
    expect(vmIdentityOf("a", { name: `${longName}1`, uid: "1" }).nodeName).not.toBe(
      vmIdentityOf("a", { name: `${longName}2`, uid: "1" }).nodeName,
    );
    const longestSocket = `/${"d".repeat(49)}/.gone.${folderNameOf("a", longName)}.abcdef/qmp`;
    expect(longestSocket.length).toBeLessThanOrEqual(107);
  });

  it("has the UUID of a firmware, and a MAC address that no vendor has", () => {
    const uuid = systemUuidOf("qemu:///a/b");
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(systemUuidOf("qemu:///a/c")).not.toBe(uuid);
    expect(macAddressOf("qemu:///a/b")).toMatch(/^02(:[0-9a-f]{2}){5}$/);
    expect(macAddressOf("qemu:///a/c")).not.toBe(macAddressOf("qemu:///a/b"));
  });
});
