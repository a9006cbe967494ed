import { type Command, InvalidArgumentError, Option } from "commander";
import type { HostPort } from "./commands/open-profiles.ts";
import { readAddress, readBoolean, readPort, readList } from "./flag-values.ts";

/** An IP address with a port; one of IPv6 is in brackets. */
export function readHostPort(text: string): HostPort {
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(text) ?? [];
  if (port === undefined) throw new InvalidArgumentError("expected an IP address and a port such as 127.0.0.1:6060.");
  return { address: readAddress(v6 ?? v4 ?? ""), port: readPort(port) };
}

/** The base URL of a collector. */
function readEndpoint(text: string): string {
  const { protocol } = URL.canParse(text) ? new URL(text) : { protocol: "" };
  if (protocol !== "http:" && protocol !== "https:")
    throw new InvalidArgumentError("expected a URL such as http://collector:4318.");
  return text;
}

/** Gives a command the flag about traces. */
export const addTracingFlags = (command: Command): Command =>
  command
    .optionsGroup("Traces:")
    .option(
      "--tracing-endpoint <url>",
      "send traces of machines to this OpenTelemetry Collector, by OTLP over HTTP (default: OTEL_EXPORTER_OTLP_ENDPOINT; without both, none are)",
      readEndpoint,
    );

/** Gives a command the flags about profiles. `--profiling` is also a flag of MCM. */
export const addProfilingFlags = (command: Command): Command =>
  command
    .optionsGroup("Profiles:")
    .addOption(
      new Option("--profiling [true|false]", "serve CPU profiles and heap statistics at --profiling-address/debug/")
        .argParser(readBoolean)
        .default(false),
    )
    .addOption(
      new Option("--profiling-address <address>", "IP address and port; one that is not loopback needs a token file")
        .argParser(readHostPort)
        .default({ address: "127.0.0.1", port: 6060 }, "127.0.0.1:6060"),
    )
    .option(
      "--profiling-token-file <file>",
      "file with the bearer token that requests must have; read for each request",
    );

/** Gives a command the flags about the dashboard. */
export const addDashboardFlags = (command: Command): Command =>
  command
    .optionsGroup("Dashboard:")
    .addOption(
      new Option("--dashboard [true|false]", "serve a read-only page about the machines at --dashboard-address")
        .argParser(readBoolean)
        .default(false),
    )
    .addOption(
      new Option(
        "--dashboard-address <address>",
        "IP address and port; on one that is not loopback, users need a bearer token and permission to get machines",
      )
        .argParser(readHostPort)
        .default({ address: "127.0.0.1", port: 8090 }, "127.0.0.1:8090"),
    );

/** Gives a command the flags about the endpoint for the cluster autoscaler. */
export const addAutoscalerFlags = (command: Command): Command =>
  command
    .optionsGroup("Cluster autoscaler:")
    .option(
      "--autoscaler-address <address>",
      "IP address and port at which MachineDeployments are served as node groups, for --cloud-provider=externalgrpc; one that is not loopback needs the files of TLS",
      readHostPort,
    )
    .option("--autoscaler-tls-cert <file>", "certificate of the endpoint; read again every minute, as are the others")
    .option("--autoscaler-tls-key <file>", "its key")
    .option(
      "--autoscaler-tls-client-ca <file>",
      "certificates of the authorities that sign certificates of cluster autoscalers",
    )
    .option(
      "--autoscaler-client-names <names>",
      "comma-separated common names or DNS names, one of which the certificate of a cluster autoscaler must have; default: any that its authority has signed",
      readList,
    );
