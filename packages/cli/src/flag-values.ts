import { isIP } from "node:net";
import { parseGoDuration } from "@millwright/base";
import {
  type ControllerName,
  type IntOrPercent,
  readIntOrPercent,
  selectControllers,
} from "@millwright/core/command-line";
import { InvalidArgumentError } from "commander";

/** A TCP port, or 0 for a free one. */
export function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError("expected a port from 0 to 65535; 0 takes a free one.");
  return port;
}

/** An IP address; one of IPv6 may be in brackets. */
export function readAddress(text: string): string {
  const address = text.replace(/^\[(.*:.*)\]$/, "$1");
  if (isIP(address) === 0) throw new InvalidArgumentError("expected an IP address such as 127.0.0.1.");
  return address;
}

/** A verbosity of klog. Its short form is also written `-v=4`. */
export const readVerbosity = (text: string): number => readMargin(text.replace(/^=/, ""));

/** A Go duration, as milliseconds. */
export function readDuration(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined || ms <= 0) throw new InvalidArgumentError("expected a duration such as 15s or 1m30s.");
  return ms;
}

/** A Go duration that may be zero, as milliseconds. */
export function readTimeout(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined || ms < 0) throw new InvalidArgumentError("expected a duration such as 20m or 1h30m.");
  return ms;
}

/** A number of things, at least one. */
export function readCount(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw new InvalidArgumentError("expected a number from 1 to 999999.");
  return count;
}

/** A number of things that may be none. */
export function readMargin(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("expected a number from 0 to 999999.");
  return Number(text);
}

/** Permissions of a file, as an octal number. */
export function readFileMode(text: string): number {
  if (!/^0?[0-7]{3}$/.test(text)) throw new InvalidArgumentError("expected an octal number such as 0600 or 0660.");
  return Number.parseInt(text, 8);
}

/** A number or percentage of machines. */
export function readLimit(text: string): IntOrPercent {
  const limit = readIntOrPercent(text);
  if (limit === undefined)
    throw new InvalidArgumentError('expected a number such as 1, or a percentage such as "10%".');
  return limit;
}

/** A percentage, as a share from 0 to 1. */
export function readShare(text: string): number {
  const percent = /^\d{1,3}%$/.test(text) ? Number(text.slice(0, -1)) : Number.NaN;
  if (!(percent <= 100)) throw new InvalidArgumentError('expected a percentage from "0%" to "100%".');
  return percent / 100;
}

/** A percentage with or without its sign, as a number from 0 to 1. */
export const readPercentage = (text: string): number => readShare(text.endsWith("%") ? text : `${text}%`);

/** A truth value, as MCM's flags take one. */
export function readBoolean(text: string): boolean {
  if (text !== "true" && text !== "false") throw new InvalidArgumentError('expected "true" or "false".');
  return text === "true";
}

/** A list, separated by commas. */
export const readList = (text: string): readonly string[] => text.split(",").filter((item) => item !== "");

/** Names of namespaces, separated by commas: at least one, each once. */
export function readNamespaces(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  const wrong = names.find((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is not the name of a namespace.`);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new InvalidArgumentError(`namespace ${twice} is there twice.`);
  return names;
}

/** A list of controllers in the style of kube-controller-manager. */
export function readControllers(text: string): readonly ControllerName[] {
  const selected = selectControllers(readList(text));
  if ("problem" in selected) throw new InvalidArgumentError(`${selected.problem}.`);
  return selected;
}
