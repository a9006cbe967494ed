import { formatGoDuration } from "@millwright/base";
import { type Command, Option } from "commander";
import { readCount, readDuration } from "./flag-values.ts";

const UNRESPONSIVE_MS = 30_000;

/** Names the drivers of `millwright run`. */
export const providerOption = (): Option =>
  new Option(
    "--provider <name...>",
    "drivers: mock, aws, gcp, azure, qemu; or an npm package, or a path that starts with . or /, which run in processes of their own; or unix:///path or grpcs://host:port of a driver that is served there",
  );

/** Gives a command the files of TLS for drivers at addresses. */
export const addProviderTlsFlags = (command: Command): Command =>
  command
    .option("--provider-tls-ca <file>", "certificates of the authorities that sign certificates of grpcs:// drivers")
    .option("--provider-tls-cert <file>", "certificate of this process for grpcs:// drivers")
    .option("--provider-tls-key <file>", "its key");

/** Gives a command the other flags about drivers. */
export const addProviderFlags = (command: Command): Command =>
  addProviderTlsFlags(command.optionsGroup("Drivers:"))
    .option("--provider-in-process <name...>", "trusted drivers that run in this process")
    .option("--provider-isolated <name...>", "drivers that run in processes of their own, of this repository as well")
    .option(
      "--provider-env <name...>",
      "environment variables that drivers in processes of their own get, besides PATH, proxies and certificates",
    )
    .option(
      "--provider-digest <name=digest...>",
      "load a driver only if its files have this digest, which millwright driver digest NAME prints",
    )
    .option(
      "--provider-memory-limit <MiB>",
      "resident memory at which the process of a driver is started again",
      readCount,
      512,
    )
    .addOption(
      new Option(
        "--provider-unresponsive-timeout <duration>",
        "time after which the process of a driver is started again if it does not respond",
      )
        .argParser(readDuration)
        .default(UNRESPONSIVE_MS, formatGoDuration(UNRESPONSIVE_MS)),
    );
