import { describe, expect, it } from "vitest";
import type { EmulatorRequest } from "../../server/index.ts";
import { modelDifferences } from "./differences.ts";
import { exceptions } from "./exceptions.ts";

const request = (body: string): EmulatorRequest => ({
  method: "POST",
  url: new URL("http://emulator.invalid/"),
  headers: {},
  body,
  signal: new AbortController().signal,
});

/** Differences of a request without a response. */
const ofRequest = (operation: string, parameters: string, version = "2016-11-15"): readonly string[] =>
  modelDifferences({
    operation,
    request: request(`Action=${operation}&Version=${version}&${parameters}`),
    reply: undefined,
  });

/** Differences of a response to a request without parameters. */
const ofAnswer = (operation: string, body: string, status = 200, version = "2016-11-15"): readonly string[] =>
  modelDifferences({
    operation,
    request: request(`Action=${operation}&Version=${version}`),
    reply: { status, body },
  }).filter((difference) => !difference.startsWith("parameter "));

const described = (instance: string): string =>
  `<DescribeInstancesResponse xmlns="x"><requestId>1</requestId><reservationSet><item><instancesSet><item>${instance}</item></instancesSet></item></reservationSet></DescribeInstancesResponse>`;
const at = "answer reservationSet[0].instancesSet[0]";

describe("requests to EC2", () => {
  it.each([
    "MinCount=1&MaxCount=1",
    "MinCount=1&MaxCount=1&Placement.Tenancy=dedicated&EbsOptimized=true&UserData=aGVsbG8%3D&ClientToken=a",
    "MinCount=1&MaxCount=1&BlockDeviceMapping.1.DeviceName=a&BlockDeviceMapping.1.Ebs.VolumeType=gp3&SecurityGroupId.1=a&SecurityGroupId.2=b",
    "MinCount=1&MaxCount=1&NetworkInterface.1.SecurityGroupId.1=a&TagSpecification.1.ResourceType=instance&TagSpecification.1.Tag.1.Key=a",
  ])("that the model knows are good: %s", (parameters) => {
    expect(ofRequest("RunInstances", parameters)).toEqual([]);
  });

  it.each([
    ["an unknown parameter", "Foo=1", "parameter Foo is not in the model"],
    ["one inside a structure", "Placement.Foo=1", "parameter Placement.Foo is not in the model"],
    [
      "the name of the SDK",
      "BlockDeviceMappings.1.DeviceName=a",
      "parameter BlockDeviceMappings.1.DeviceName is not in the model",
    ],
    ["a list with a gap", "SecurityGroupId.2=a", "parameter SecurityGroupId.2 is not in the model"],
    ["a text where a structure is", "Placement=a", "parameter Placement is not in the model"],
    ["a structure where a text is", "KeyName.1=a", "parameter KeyName must be a value"],
    ["a word where a number is", "Ipv6AddressCount=one", 'parameter Ipv6AddressCount must be a number, is "one"'],
    ["a word where a boolean is", "EbsOptimized=yes", 'parameter EbsOptimized must be true or false, is "yes"'],
    [
      "a value that is not in its enum",
      "Placement.Tenancy=solo",
      'parameter Placement.Tenancy is not a value of its enum: "solo"',
    ],
    [
      "one in a list",
      "TagSpecification.1.ResourceType=robot",
      'parameter TagSpecification.1.ResourceType is not a value of its enum: "robot"',
    ],
  ])("differ by %s", (_, parameters, expected) => {
    expect(ofRequest("RunInstances", `MinCount=1&MaxCount=1&${parameters}`)[0]).toBe(expected);
  });

  it("differ by missing parts, also nested ones", () => {
    expect(ofRequest("RunInstances", "MinCount=1")).toEqual(["parameter MaxCount is required"]);
    expect(ofRequest("TerminateInstances", "")).toEqual(["parameter InstanceId is required"]);
  });

  it("differ by their version, and by an unknown operation", () => {
    expect(ofRequest("DescribeInstances", "", "2014-01-01")).toEqual([
      "parameter Version must be 2016-11-15, is 2014-01-01",
    ]);
    expect(ofRequest("ExplodeInstances", "")).toEqual(["there is no operation ExplodeInstances"]);
  });
});

describe("answers of EC2", () => {
  it("in the model are accepted", () => {
    const instance =
      "<instanceId>i-1</instanceId><instanceState><code>16</code><name>running</name></instanceState><launchTime>2026-01-01T00:00:00.000Z</launchTime><tagSet/>";
    expect(ofAnswer("DescribeInstances", described(instance))).toEqual([]);
  });

  it.each([
    ["an unknown element", "<color>red</color>", `${at}.color is not in the model`],
    ["the name of a parameter", "<InstanceId>i-1</InstanceId>", `${at}.InstanceId is not in the model`],
    ["one inside", "<placement><shelf>1</shelf></placement>", `${at}.placement.shelf is not in the model`],
    ["a text where elements are", "<placement>here</placement>", `${at}.placement must have elements, not a text`],
    ["elements where a text is", "<imageId><a/></imageId>", `${at}.imageId must be one text`],
    ["an element twice", "<imageId>a</imageId><imageId>b</imageId>", `${at}.imageId must be one text`],
    ["items of another name", "<tagSet><member/></tagSet>", `${at}.tagSet.member is not in the model`],
    [
      "a value that is not in its enum",
      "<instanceState><name>on</name></instanceState>",
      `${at}.instanceState.name is not a value of its enum: "on"`,
    ],
    ["a time that is none", "<launchTime>today</launchTime>", `${at}.launchTime must be a time, is "today"`],
    ["a boolean that is none", "<ebsOptimized>1</ebsOptimized>", `${at}.ebsOptimized must be true or false, is "1"`],
  ])("differ by %s", (_, instance, expected) => {
    expect(ofAnswer("DescribeInstances", described(instance))).toEqual([expected]);
  });

  it("differ by their root, and without the request ID", () => {
    expect(ofAnswer("DescribeInstances", "<Described/>")).toEqual([
      "answer Described must be DescribeInstancesResponse",
      "answer RequestId is required",
    ]);
  });

  it("of errors have the common format", () => {
    const good =
      "<Response><Errors><Error><Code>a</Code><Message>b</Message></Error></Errors><RequestID>1</RequestID></Response>";
    expect(ofAnswer("DescribeInstances", good, 400)).toEqual([]);
    expect(ofAnswer("DescribeInstances", "<ErrorResponse/>", 400)).toHaveLength(3);
  });
});

describe("STS", () => {
  const operation = "AssumeRoleWithWebIdentity";
  const version = "2011-06-15";
  const good = "RoleArn=a&RoleSessionName=b&WebIdentityToken=c";
  const answer = (credentials: string): string =>
    `<${operation}Response><${operation}Result><Credentials>${credentials}</Credentials></${operation}Result><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></${operation}Response>`;

  it("has its own protocol", () => {
    expect(ofRequest(operation, good, version)).toEqual([]);
    expect(ofRequest(operation, `${good}&PolicyArns.member.1.arn=a`, version)).toEqual([]);
    expect(ofRequest(operation, "RoleArn=a&roleSessionName=b&WebIdentityToken=c", version)).toEqual([
      "parameter RoleSessionName is required",
      "parameter roleSessionName is not in the model",
    ]);
  });

  it("responds as in its model", () => {
    const keys = "<AccessKeyId>a</AccessKeyId><SecretAccessKey>b</SecretAccessKey><SessionToken>c</SessionToken>";
    const end = "<Expiration>2026-01-01T00:00:00Z</Expiration>";
    expect(ofAnswer(operation, answer(keys + end), 200, version)).toEqual([]);
    expect(ofAnswer(operation, answer(keys), 200, version)).toEqual([
      `answer ${operation}Result.Credentials.Expiration is required`,
    ]);
    const refusal =
      "<ErrorResponse><Error><Type>Sender</Type><Code>a</Code><Message>b</Message></Error><RequestId>1</RequestId></ErrorResponse>";
    expect(ofAnswer(operation, refusal, 400, version)).toEqual([]);
    expect(ofAnswer(operation, "<Response/>", 400, version)).toHaveLength(4);
  });
});

describe("exceptions", () => {
  const returned =
    "<ModifyNetworkInterfaceAttributeResponse><requestId>1</requestId><return>true</return></ModifyNetworkInterfaceAttributeResponse>";
  const examples: readonly (readonly [string, string, string | undefined])[] = [
    ["RunInstances", "MinCount=1&MaxCount=1&InstanceType=m99.large", undefined],
    ["DescribeInstanceTypes", "InstanceType.1=m99.large", undefined],
    ["ModifyNetworkInterfaceAttribute", "NetworkInterfaceId=eni-1", returned],
  ];

  it.each(examples)("of %s are accepted, and needed", (operation, parameters, body) => {
    const exchange = {
      operation,
      request: request(`Action=${operation}&Version=2016-11-15&${parameters}`),
      reply: body === undefined ? undefined : { status: 200, body },
    };
    expect(modelDifferences(exchange)).toEqual([]);
    expect(modelDifferences(exchange, [])).toHaveLength(1);
  });

  it("have an example each", () => {
    expect(exceptions.map(({ operation }) => operation)).toEqual(examples.map(([operation]) => operation));
  });
});
