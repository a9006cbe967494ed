import { ConfigError } from "@millwright/base";
import { expect, it } from "vitest";
import { formatDriverAddress, grpcTarget, readDriverAddress } from "./address.ts";

it.each([
  ["unix:///run/driver.sock", "unix:/run/driver.sock"],
  ["unix:/run/driver.sock", "unix:/run/driver.sock"],
  ["grpcs://driver.example:8443", "driver.example:8443"],
  ["GRPCS://[2001:db8::1]:8443", "[2001:db8::1]:8443"],
  ["grpc://127.0.0.1:0", "127.0.0.1:0"],
  ["grpc://localhost:8443", "localhost:8443"],
  ["grpc://[::1]:8443", "[::1]:8443"],
])("reads %s, and formats it so that it is read again", (text, target) => {
  const address = readDriverAddress(text);
  expect(grpcTarget(address)).toBe(target);
  expect(readDriverAddress(formatDriverAddress(address))).toEqual(address);
});

it.each([
  ["grpc://driver.example:8443", /calls contain credentials; expected grpcs:/],
  ["grpc://10.0.0.1:8443", /calls contain credentials/],
  ["grpc://127.0.0.1.example:8443", /calls contain credentials/],
  ["unix://run/driver.sock", /must start with \//],
  [`unix:///${"x".repeat(110)}`, /more than 103 bytes/],
  ["grpcs://driver.example", /expected unix:/],
  ["grpcs://driver.example:99999", /expected unix:/],
  ["grpcs://user@driver.example:1", /expected unix:/],
  ["https://driver.example:1", /expected unix:/],
])("rejects %s in one line", (text, message) => {
  const read = () => readDriverAddress(text);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(message);
});
