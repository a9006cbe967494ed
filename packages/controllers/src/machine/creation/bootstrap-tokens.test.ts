import { Secret, seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/core/testing";
import { ApiError, secretResource } from "@millwright/kube";
import { createFakeApi, serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import type { SecretObject } from "../../model/node-objects.ts";
import { aMachine, named } from "../../testing/builders.ts";
import { createBootstrapTokens, tokenId } from "./bootstrap-tokens.ts";

const minute = 60_000;
const encode = (text: string) => Buffer.from(text).toString("base64");
const machine = aMachine();
const uid = "uid-machine";
const ref = (n: number) => ({ namespace: "kube-system", name: `bootstrap-token-${tokenId(uid, n)}` });

function setUp() {
  const clock = createVirtualClock({ now: new Date("2026-01-01T00:00:00Z") });
  const api = createFakeApi({ clock });
  const start = () => createBootstrapTokens({ api, clock, random: seededRandom(3), extraGroups: "system:a,system:b" });
  const data = (n: number) =>
    Object.fromEntries(
      Object.entries(api.peek<SecretObject>(secretResource, ref(n))?.data ?? {}).map(([key, value]) => [
        key,
        Buffer.from(value, "base64").toString("utf8"),
      ]),
    );
  const verbs = () => api.calls.map(({ verb }) => verb);
  const seed = (n: number, owner: string, expiration = "2026-01-01T00:20:00Z") =>
    api.seed<SecretObject>(secretResource, {
      metadata: { ...ref(n), annotations: { "machine.millwright.dev/machine-uid": owner } },
      data: {
        expiration: encode(expiration),
        "token-id": encode(tokenId(uid, n)),
        "token-secret": encode("0123456789abcdef"),
      },
    });
  return { api, clock, start, data, verbs, seed };
}

describe("a bootstrap token", () => {
  it("is created with one request, with the keys that kube-apiserver and its token cleaner read", async () => {
    const { api, start, data, verbs } = setUp();
    const token = await start().ensure(machine, 20 * minute);
    expect(verbs()).toEqual(["create"]);
    expect(api.peek(secretResource, ref(0))).toMatchObject({ type: "bootstrap.kubernetes.io/token" });
    expect(data(0)).toEqual({
      description: "Token of machine machine, created by Millwright",
      "token-id": tokenId(uid, 0),
      "token-secret": expect.stringMatching(/^[0-9a-z]{16}$/),
      expiration: "2026-01-01T00:20:00Z",
      "usage-bootstrap-authentication": "true",
      "usage-bootstrap-signing": "true",
      "auth-extra-groups": "system:a,system:b",
    });
    expect(token.reveal()).toBe(`${data(0)["token-id"]}.${data(0)["token-secret"]}`);
    expect(`${String(token)} ${JSON.stringify(token)}`).not.toContain(token.reveal());
  });

  it("is found again by the next process, and is the same", async () => {
    const { start, verbs } = setUp();
    const first = await start().ensure(machine, 20 * minute);
    const second = await start().ensure(machine, 20 * minute);
    expect(second.equals(first)).toBe(true);
    expect(verbs()).toEqual(["create", "create", "get"]);
  });

  it("is recreated when it has expired", async () => {
    const { clock, start, data } = setUp();
    const tokens = start();
    const first = await tokens.ensure(machine, 20 * minute);
    await clock.advance(21 * minute);
    const second = await tokens.ensure(machine, 20 * minute);
    expect(second.equals(first)).toBe(false);
    expect(data(0)["expiration"]).toBe("2026-01-01T00:41:00Z");
  });

  // MCM derives the id from the name of the machine, so two machines may share a Secret (`userdata.go` getTokenIDAndSecretName).
  it("leaves that of another machine alone and takes another id, which every process finds", async () => {
    const { api, start, seed } = setUp();
    const other = seed(0, "uid-other");
    const first = await start().ensure(machine, 20 * minute);
    expect(first.reveal()).toContain(`${tokenId(uid, 1)}.`);
    expect((await start().ensure(machine, 20 * minute)).equals(first)).toBe(true);
    await start().remove(machine);
    expect(api.all(secretResource)).toEqual([other]);
  });

  it("is not created when every id of the machine is used", async () => {
    const { start, seed } = setUp();
    for (const n of [0, 1, 2, 3]) seed(n, "uid-other");
    await expect(start().ensure(machine, minute)).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining(ref(0).name),
    });
  });

  it("is created again when it was deleted between the conflict and the lookup", async () => {
    const { api, start, seed } = setUp();
    seed(0, uid);
    const get = api.get.bind(api);
    api.get = (type, which) => {
      api.remove(type, which);
      return get(type, which);
    };
    expect(await start().ensure(machine, minute)).toBeInstanceOf(Secret);
  });

  it("fails with what can be done about it", async () => {
    const { api, start } = setUp();
    api.inject({ verb: "create", error: new ApiError({ status: 403, reason: "Forbidden", message: "may not" }) });
    await expect(start().ensure(machine, minute)).rejects.toMatchObject({
      code: "PermissionDenied",
      message: expect.stringContaining("kube-system"),
    });
    api.inject({ verb: "create", error: serverError() });
    await expect(start().ensure(machine, minute)).rejects.toMatchObject({ code: "Unavailable" });
    api.inject({ verb: "create", error: new Error("socket") });
    await expect(start().ensure(machine, minute)).rejects.toMatchObject({ code: "Unavailable" });
    api.inject({ verb: "get", error: serverError() });
    await start().ensure(machine, minute);
    await expect(start().ensure(machine, minute)).rejects.toMatchObject({ code: "Unavailable" });
  });

  it("is removed with one request by the process that created it, and with two by another", async () => {
    const { api, start, verbs } = setUp();
    const tokens = start();
    await tokens.ensure(machine, minute);
    await tokens.remove(machine);
    expect([api.all(secretResource), verbs()]).toEqual([[], ["create", "delete"]]);
    await start().ensure(machine, minute);
    await start().remove(machine);
    expect([api.all(secretResource), verbs().slice(2)]).toEqual([[], ["create", "get", "delete"]]);
    await start().remove(machine);
    expect(verbs().slice(5)).toEqual(["get"]);
  });

  it("that belongs to another client by now is not removed", async () => {
    const { api, start, seed } = setUp();
    const tokens = start();
    await tokens.ensure(machine, minute);
    api.remove(secretResource, ref(0));
    await tokens.remove(machine);
    await tokens.ensure(machine, minute);
    api.remove(secretResource, ref(0));
    const other = seed(0, "uid-other");
    await tokens.remove(machine);
    expect(api.all(secretResource)).toEqual([other]);
    api.inject({ verb: "get", error: serverError() });
    await expect(tokens.remove(machine)).rejects.toMatchObject({ status: 500 });
  });

  it("has an id that is spread over all ids", () => {
    const ids = new Set(
      Array.from({ length: 5_000 }, (_, index) => tokenId(aMachine(named(`m${index}`)).metadata.uid ?? "", 0)),
    );
    expect(ids.size).toBe(5_000);
    expect([...ids].every((id) => /^[a-z0-9]{6}$/.test(id))).toBe(true);
  });
});
