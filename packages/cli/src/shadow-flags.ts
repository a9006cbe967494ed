import { formatGoDuration } from "@millwright/base";
import { type Command, Option } from "commander";
import { readDuration } from "./flag-values.ts";

const FIVE_MINUTES = 300_000;

/** Gives a command the flags of a shadow, which decides beside another manager and changes nothing. */
export const addShadowFlags = (command: Command): Command =>
  command
    .optionsGroup("Shadow:")
    .option(
      "--shadow",
      "write nothing, call no driver for a VM and take no lease: report what would be done beside another manager; also on SIGUSR2",
    )
    .addOption(
      new Option("--shadow-grace <duration>", "how long the other manager may take before an action is a difference")
        .argParser(readDuration)
        .default(FIVE_MINUTES, formatGoDuration(FIVE_MINUTES)),
    )
    .addOption(
      new Option("--shadow-report-interval <duration>", "time between two reports in the log")
        .argParser(readDuration)
        .default(FIVE_MINUTES, formatGoDuration(FIVE_MINUTES)),
    );
