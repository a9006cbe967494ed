import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { eventually } from "./eventually.ts";
import { startProgram } from "./program.ts";

/** The alerts of the chart. */
export const alertsFile = fileURLToPath(new URL("../../charts/millwright/files/alerts.yaml", import.meta.url));

/** Where `test/system/install-prometheus` puts the programs. */
const programs = join(homedir(), ".cache/millwright/prometheus/usr/bin");

/** Whether `test/system/install-prometheus` was possible here. */
export const hasPrometheus = ["prometheus", "promtool"].every((name) => existsSync(join(programs, name)));

/** Runs promtool; with its exit status and all that it prints. */
export function promtool(
  args: readonly string[],
  input = "",
): Promise<{ readonly status: number; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = execFile(join(programs, "promtool"), [...args], { maxBuffer: 1e8 }, (error, stdout, stderr) => {
      const status = error === null ? 0 : error.code;
      if (typeof status === "number") resolve({ status, output: `${stdout}${stderr}` });
      else reject(error ?? new Error("promtool has no exit status"));
    });
    child.stdin?.end(input);
  });
}

/** A series with its value. */
export interface PrometheusSample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** An alert that fires. */
export interface FiringAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What the API of Prometheus answers. */
interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly result?: readonly {
      readonly metric: PrometheusSample["metric"];
      readonly value: readonly [number, string];
    }[];
    readonly alerts?: readonly (FiringAlert & { readonly state: string })[];
  };
}

/** A Prometheus that scrapes each second. */
export interface Prometheus {
  /** @throws Error when the expression is invalid */
  query(expression: string): Promise<readonly PrometheusSample[]>;
  firing(): Promise<readonly FiringAlert[]>;
  close(): Promise<void>;
}

/** What a Prometheus does. */
export interface PrometheusSetup {
  /** As in `scrape_configs`. */
  readonly scrapes: readonly object[];
  /** A rule file. Default: the alerts of the chart. Each alert loses the time for which it must hold. */
  readonly rules?: string;
}

/** Starts Prometheus: with the expressions of the alerts as they are, but without the times for which they must hold. */
export async function startPrometheus({ scrapes, rules: text }: PrometheusSetup): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-prometheus-"));
  const [port = 0] = await freePorts(1);
  const rules: { groups: { rules: { for?: string }[] }[] } = parse(text ?? (await readFile(alertsFile, "utf8")));
  for (const rule of rules.groups.flatMap((group) => group.rules)) delete rule.for;
  await writeFile(join(folder, "alerts.yaml"), stringify(rules));
  const config = {
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    rule_files: ["alerts.yaml"],
    scrape_configs: scrapes,
  };
  await writeFile(join(folder, "prometheus.yml"), stringify(config));
  const program = startProgram("prometheus", join(programs, "prometheus"), [
    `--config.file=${join(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--log.level=warn",
  ]);
  const base = `http://127.0.0.1:${port}`;
  const read = async (path: string): Promise<Answer["data"]> => {
    const answer: Answer = JSON.parse(await (await fetch(`${base}/api/v1/${path}`)).text());
    if (answer.status !== "success") throw new Error(`${decodeURIComponent(path)}: ${answer.error}`);
    return answer.data;
  };
  await eventually(async () => {
    if (!(await fetch(`${base}/-/ready`)).ok) throw new Error("Prometheus is not ready");
  });
  return {
    async query(expression) {
      const { result = [] } = await read(`query?query=${encodeURIComponent(expression)}`);
      return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
    },
    async firing() {
      const { alerts = [] } = await read("alerts");
      return alerts.filter(({ state }) => state === "firing");
    },
    async close() {
      await program.stop("SIGTERM");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
