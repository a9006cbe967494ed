/**
 * A candidate of a leader election that prints whenever it gains or loses the lead, for leader-election.test.ts. On "block MS" it
 * blocks its event loop and then prints whether it leads, in the same turn; on "write NAME" it creates a ConfigMap through a
 * fenced client.
 */
import { createInterface } from "node:readline";
import { createApiClient, createFencedClient, isLeadershipLost, startLeaderElection } from "@millwright/kube";

const [server = "", identity = "", lease = "election"] = process.argv.slice(2);
const leadership = startLeaderElection({
  cluster: { cluster: { server } },
  leases: [{ namespace: "default", name: lease }],
  identity,
  leaseDurationMs: 4_000,
  renewDeadlineMs: 2_500,
  retryPeriodMs: 500,
});
const api = createFencedClient(createApiClient({ server }), leadership);
const configMaps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function block(ms: number): void {
  const untilMs = Date.now() + ms;
  while (Date.now() < untilMs);
}

async function write(name: string): Promise<void> {
  try {
    await api.create(configMaps, { metadata: { namespace: "default", name } });
    print(`wrote ${name}`);
  } catch (error) {
    print(isLeadershipLost(error) ? `refused ${name}` : `failed ${name}`);
  }
}

let wasLeader = false;
const ticker = setInterval(() => {
  if (leadership.isLeader() !== wasLeader) {
    wasLeader = !wasLeader;
    print(wasLeader ? "leads" : "follows");
  }
}, 50);
leadership.lost.addEventListener("abort", () => print("lost"));

createInterface({ input: process.stdin }).on("line", (line) => {
  const [verb, argument = ""] = line.split(" ");
  if (verb === "block") {
    block(Number(argument));
    print(`unblocked ${leadership.isLeader() ? "leading" : "following"}`);
  } else if (verb === "write") void write(argument);
  else if (verb === "stop") {
    clearInterval(ticker);
    void leadership.stop().then(() => process.exit(0));
  }
});
print("started");
