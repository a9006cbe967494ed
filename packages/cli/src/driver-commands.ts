import { type Command, Option } from "commander";
import type { DriverServeFlags } from "./commands/driver-serve.ts";
import { readCount, readFileMode } from "./flag-values.ts";

/** Adds the commands about drivers. */
export function addDriverCommands(program: Command, setStatus: (status: number) => void): void {
  const driver = program
    .command("driver")
    .description("run a driver in a process of its own, or print the digest of its files");

  driver
    .command("digest <driver>")
    .description(
      "print NAME=DIGEST of the files of a driver, for --provider-digest of millwright run; does not load it",
    )
    .action(async (name: string) => {
      const { driverDigest } = await import("./commands/driver-digest.ts");
      await driverDigest(name);
    });

  driver
    .command("serve <driver>")
    .description(
      "serve a driver over gRPC until a signal, for --provider unix:///path or grpcs://host:port of millwright run",
    )
    .addOption(
      new Option(
        "--listen <address>",
        "unix:///path, grpcs://host:port with TLS, or grpc:// with an address of this machine",
      ).makeOptionMandatory(),
    )
    .option("--tls-cert <file>", "certificate of this server, for grpcs://")
    .option("--tls-key <file>", "its key")
    .option("--tls-client-ca <file>", "certificates of the authorities that sign certificates of clients")
    .addOption(
      new Option("--socket-mode <mode>", "permissions of the unix socket")
        .argParser(readFileMode)
        .default(0o600, "0600"),
    )
    .option("--digest <digest>", "serve the driver only if its files have this digest")
    .addOption(
      new Option("--memory-limit <MiB>", "of such a process: end with more resident memory")
        .argParser(readCount)
        .hideHelp(),
    )
    .addOption(
      new Option(
        "--until-stdin-closes",
        "for a process that was started by another one: end with it, and remove the socket",
      ).hideHelp(),
    )
    .addOption(
      new Option(
        "--private-folder <folder>",
        "of such a process: the folder that was made for it, which is removed with all that is in it",
      ).hideHelp(),
    )
    .action(async (name: string, flags: DriverServeFlags) => {
      const { driverServe } = await import("./commands/driver-serve.ts");
      setStatus(await driverServe(name, flags));
    });
}
