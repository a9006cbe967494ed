import { type ApiServer, createApiServer } from "@millwright/devcluster";
import { isRecord } from "@millwright/base";
import { createApiClient, leaseResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startCandidate } from "./start-candidate.ts";

type Candidate = ReturnType<typeof startCandidate>;

describe("leader election of processes", () => {
  let server: ApiServer;
  let url: string;
  const candidates: Candidate[] = [];
  const start = (identity: string): Candidate => {
    const candidate = startCandidate(url, identity);
    candidates.push(candidate);
    return candidate;
  };

  beforeEach(async () => {
    server = createApiServer();
    ({ url } = await server.listen());
  });
  afterEach(async () => {
    for (const { kill, closed } of candidates.splice(0)) {
      kill();
      await closed;
    }
    await server.close();
  });

  const leaseOf = async (): Promise<Readonly<Record<string, unknown>>> => {
    const api = createApiClient({ server: url });
    const { spec } = await api.get(leaseResource, { namespace: "default", name: "election" });
    await api.close();
    return isRecord(spec) ? spec : {};
  };

  it("fails over at once when the leader stops cleanly, and after the lease duration when it is killed", async () => {
    const a = start("a");
    await a.waitFor("leads");
    const b = start("b");
    await b.waitFor("started");
    a.send("stop");
    expect(await a.closed).toBe(0);
    const stoppedAt = Date.now();
    await b.waitFor("leads");
    // The lease was released: it was not expired yet.
    expect(Date.now() - stoppedAt).toBeLessThan(4_000);
    expect(await leaseOf()).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });

    const c = start("c");
    await c.waitFor("started");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    b.kill();
    await b.closed;
    const killedAt = Date.now();
    await c.waitFor("leads");
    expect(Date.now() - killedAt).toBeGreaterThan(2_500);
  });

  it("keeps leading while its event loop is blocked for five lease durations", async () => {
    const a = start("a");
    await a.waitFor("leads");
    const b = start("b");
    await b.waitFor("started");
    a.send("block 20000");
    await a.waitFor("unblocked leading", 30_000);
    expect(b.lines()).not.toContain("leads");
    expect(a.lines()).not.toContain("lost");
    expect(await leaseOf()).toMatchObject({ holderIdentity: "a", leaseTransitions: 0 });
  });

  it("loses leadership at once when another candidate took over while its event loop was blocked, and writes nothing", async () => {
    const a = start("a");
    await a.waitFor("leads");
    a.send("write before");
    await a.waitFor("wrote before");
    const b = start("b");
    await b.waitFor("started");
    a.send("block 14000");
    await new Promise((resolve) => setTimeout(resolve, 500));
    // The server is down for longer than the lease duration: no candidate can renew.
    await server.restart({ keepData: true, downMs: 6_000 });
    await b.waitFor("leads");
    expect(a.lines()).not.toContain("unblocked following");
    await a.waitFor("unblocked following");
    a.send("write after");
    await a.waitFor("refused after");
    await a.waitFor("lost");
    expect(b.lines()).not.toContain("lost");
  });
});
