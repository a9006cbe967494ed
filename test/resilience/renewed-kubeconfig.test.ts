import { readFile, rename, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { controllersUser } from "../harness/grant-roles.ts";
import { startTargetCluster, type TargetCluster } from "../harness/target-cluster.ts";

/** An address of a server that accepts one bearer token at a time, as one whose tokens expire, and passes requests on with the token that the server knows. */
async function startGate(url: string, known: string) {
  const gate = { token: "first", rejected: 0 };
  const server = createServer((incoming, response) => {
    if (incoming.headers.authorization !== `Bearer ${gate.token}`) {
      gate.rejected++;
      response.statusCode = 401;
      return void response.end();
    }
    const { method, headers } = incoming;
    const passed = request(
      new URL(incoming.url ?? "/", url),
      { method, headers: { ...headers, authorization: `Bearer ${known}` } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the gate has no port");
  return {
    gate,
    url: `http://127.0.0.1:${address.port}`,
    cutConnections: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The kubeconfig of the target cluster is renewed in place, as Cluster API and Gardener do it. */
describe("millwright run whose target kubeconfig is renewed in place", () => {
  let fleet: ControlledFleet;
  let target: TargetCluster;
  let file: string;
  const gates: Awaited<ReturnType<typeof startGate>>[] = [];

  beforeEach(async () => {
    fleet = await startControlledFleet();
    target = await startTargetCluster(fleet, {}, async (url) => {
      gates.push(await startGate(url, controllersUser), await startGate(url, controllersUser));
      return gates[0]?.url ?? "";
    });
    file = target.flag.replace("--target-kubeconfig=", "");
    await renew((text) => text.replace(`token: ${controllersUser}`, "token: first"));
  });
  afterEach(async () => {
    await fleet.close();
    for (const { close } of gates.splice(0)) await close();
    await target.close();
  });

  const renew = async (change: (text: string) => string): Promise<void> => {
    const before = await readFile(file, "utf8");
    const after = change(before);
    expect(after).not.toBe(before);
    await writeFile(`${file}.new`, after);
    await rename(`${file}.new`, file);
  };

  it("goes on with a new token, and with a new address, without a restart", async () => {
    const [one, two] = gates;
    if (one === undefined || two === undefined) throw new Error("there are no gates");
    const [port = 0] = await freePorts(1);
    const process = fleet.run(target.flag, `--port=${port}`);
    const read = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    await fleet.deploy(2);
    await fleet.untilRunning(2);

    // The token is renewed a while after it has expired.
    one.gate.token = "second";
    one.cutConnections();
    await eventually(async () =>
      expect(await read("/readyz")).toMatch(/^target cluster: The API server rejects the cred/),
    );
    expect(await read("/metrics")).toMatch(/^rest_client_requests_total\{code="401",.*\} [1-9]/m);
    await renew((text) => text.replace("token: first", "token: second"));
    await fleet.scale(3);
    await fleet.untilRunning(3);
    await eventually(async () => expect(await read("/readyz")).toBe("OK"));

    // The API server moves away from its former address.
    two.gate.token = "second";
    await renew((text) => text.replace(one.url, two.url));
    await one.close();
    gates.shift();
    await fleet.scale(4);
    await fleet.untilRunning(4);
    expect(process.child.exitCode).toBeNull();
    expect(fleet.callsOf("delete")).toBe(0);
    expect(process.output()).toContain("The kubeconfig has changed and is read again");
  });
});
