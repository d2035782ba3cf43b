"""The template check against the template, whole and broken."""

import copy
import json
import re
import unittest
from pathlib import Path

from samtranslator.yaml_helper import yaml_parse
from template import check

TEMPLATE = Path(__file__).parent.parent / "template.yaml"
MAPPINGS = (("BillingFunction", "Messages"), ("InventoryFunction", "Messages"),
            ("OrderProjectionFunction", "Messages"), ("OutboxRelayFunction", "Rows"),
            ("PaymentFunction", "Messages"), ("NotificationFunction", "Messages"))


def statements(resource: dict) -> list[dict]:
    """Of a role and of a managed policy; of a conditional one, what it is where the condition holds."""
    if resource["Type"] not in ("AWS::IAM::Role", "AWS::IAM::ManagedPolicy"):
        return []
    properties = resource["Properties"]
    policies = [*properties.get("Policies", []), *([properties] if "PolicyDocument" in properties else [])]
    written = [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]
    return [statement["Fn::If"][1] if "Fn::If" in statement else statement for statement in written]


class TemplateCheck(unittest.TestCase):
    def setUp(self):
        self.template = json.loads(json.dumps(yaml_parse(TEMPLATE.read_text())))

    def properties(self, name: str) -> dict:
        return self.template["Resources"][name]["Properties"]

    def event(self, function: str, event: str) -> dict:
        return self.properties(function)["Events"][event]["Properties"]

    def one(self, *words: str):
        problems = check(self.template)
        self.assertEqual(len(problems), 1, problems)
        for word in words:
            self.assertIn(word, problems[0])

    def test_the_template_passes(self):
        self.assertEqual(check(self.template), [])

    def test_c04_a_mapping_without_partial_failures_is_named(self):
        whole = self.template
        for function, event in MAPPINGS:
            for broken in (None, [], ["Other"]):
                self.template = copy.deepcopy(whole)
                self.event(function, event)["FunctionResponseTypes"] = broken
                self.one(f"{function}.{event}", "ReportBatchItemFailures")
            del self.event(function, event)["FunctionResponseTypes"]
            self.one(f"{function}.{event}")

    def test_c04_a_mapping_outside_of_a_function(self):
        self.template["Resources"]["Loose"] = {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {}}
        self.one("Loose", "ReportBatchItemFailures")

    def test_c44_latest_is_refused(self):
        for position in ("LATEST", "AT_TIMESTAMP"):
            self.event("OutboxRelayFunction", "Rows")["StartingPosition"] = position
            self.one("OutboxRelayFunction.Rows", "TRIM_HORIZON")

    def test_a_stream_whose_shards_are_split(self):
        self.event("OutboxRelayFunction", "Rows")["ParallelizationFactor"] = 2
        self.one("OutboxRelayFunction.Rows", "ParallelizationFactor")

    def test_a_stream_without_bounds(self):
        self.event("OutboxRelayFunction", "Rows")["MaximumRetryAttempts"] = -1
        self.one("MaximumRetryAttempts")

    def test_a_stream_that_gives_up_in_silence(self):
        del self.event("OutboxRelayFunction", "Rows")["DestinationConfig"]
        self.one("OnFailure")

    def test_c17_a_window_shorter_than_the_way_back(self):
        for days in (1, 60):
            self.template["Parameters"]["InboxWindowDays"]["Default"] = days
            problems = check(self.template)
            # Those that have events in the inbox; order-api has clients' keys there.
            self.assertEqual([problem.partition("Function")[0] for problem in problems],
                             ["Billing", "Inventory", "Payment", "Notification"])
            self.assertIn("61", problems[0])
        self.template["Parameters"]["InboxWindowDays"]["Default"] = 61
        self.assertEqual(check(self.template), [])

    def test_c17_a_queue_that_keeps_longer_than_is_declared(self):
        self.properties("BillingDlq")["MessageRetentionPeriod"] = 1209600
        self.properties("BillingFunction")["Environment"]["Variables"]["DLQ_RETENTION_DAYS"] = 4
        self.one("BillingFunction", "DLQ_RETENTION_DAYS", "14")

    def test_a_receive_count_that_differs(self):
        whole = self.template
        for consumer in ("Billing", "Inventory", "OrderProjection", "Payment", "Notification"):
            self.template = copy.deepcopy(whole)
            self.properties(f"{consumer}Queue")["RedrivePolicy"]["maxReceiveCount"] = 9
            self.one(f"{consumer}Function", "MAX_RECEIVE_COUNT")

    def test_a_setting_of_one_function_goes_before_the_common_one(self):
        self.properties("BillingFunction")["Environment"]["Variables"]["INBOX_WINDOW_DAYS"] = 60
        self.one("BillingFunction", "61")

    def test_a_standard_topic_into_a_fifo_queue(self):
        self.properties("OrderProjectionSubscription")["TopicArn"] = {"Ref": "OrdersTopic"}
        self.one("OrderProjectionSubscription", "standard topic", "FIFO queue")

    def test_a_dead_letter_queue_of_the_other_kind(self):
        self.properties("OrderProjectionQueue")["RedrivePolicy"]["deadLetterTargetArn"] = {"Fn::GetAtt": ["BillingDlq", "Arn"]}
        self.one("OrderProjectionQueue", "FIFO queue", "standard dead-letter queue")
        self.setUp()
        dead = {"deadLetterTargetArn": {"Fn::GetAtt": ["OrderProjectionDlq", "Arn"]}}
        self.properties("BillingSubscription")["RedrivePolicy"] = dead
        self.one("BillingSubscription", "standard subscription", "FIFO dead-letter queue")

    def test_a_fifo_topic_without_the_suffix(self):
        for name in (None, "orders", {"Fn::Sub": "${AWS::StackName}-orders"}):
            self.properties("OrdersFifoTopic")["TopicName"] = name
            self.one("OrdersFifoTopic", ".fifo")

    def test_a_secret_in_the_template(self):
        for token in ("s3cret", {"Ref": "PaymentUrl"}, {"Fn::Sub": "${PaymentToken}"}):
            self.properties("PaymentFunction")["Environment"]["Variables"]["PAYMENT_TOKEN"] = token
            self.one("PaymentFunction", "PAYMENT_TOKEN", "NoEcho")
        self.setUp()
        self.template["Parameters"]["MailToken"]["Default"] = "s3cret"
        self.one("NotificationFunction", "MAIL_TOKEN")

    def test_a_started_row_that_expires(self):
        self.properties("RemoteTable")["TimeToLiveSpecification"] = {"AttributeName": "expires_at", "Enabled": True}
        problems = check(self.template)
        self.assertEqual(len(problems), 2, problems)
        self.assertIn("NotificationFunction: its REMOTE_TABLE has a TTL", problems[1])

    def test_each_consumer_gets_the_events_that_it_handles(self):
        filters = {name: resource["Properties"]["FilterPolicy"]["event_type"]
                   for name, resource in self.template["Resources"].items()
                   if "FilterPolicy" in (resource.get("Properties") or {})}
        self.assertEqual(filters, {
            "BillingSubscription": ["OrderPlaced", "StockRejected", "PaymentDeclined"],
            "InventorySubscription": ["OrderPlaced", "PaymentDeclined"],
            "PaymentSubscription": ["StockReserved"],
            "NotificationSubscription": ["PaymentCaptured"],
        })

    def test_a_topic_may_write_to_every_queue_that_it_feeds(self):
        may = {queue["Ref"] for name in ("TopicMayWriteToQueues", "FifoTopicMayWriteToQueues")
               for queue in self.properties(name)["Queues"]}
        for name, resource in self.template["Resources"].items():
            if resource["Type"] == "AWS::SNS::Subscription":
                dead = resource["Properties"]["RedrivePolicy"]["deadLetterTargetArn"]
                for target in (resource["Properties"]["Endpoint"], dead):
                    self.assertIn(target["Fn::GetAtt"][0], may, name)

    def test_what_counts_the_events_of_an_order_gets_all_of_them(self):
        self.assertNotIn("FilterPolicy", self.properties("OrderProjectionSubscription"))

    def test_the_publishers_may_publish_to_the_routes_and_nowhere_else(self):
        routes = self.template["Globals"]["Function"]["Environment"]["Variables"]["ROUTES"]["Fn::Sub"]
        named = sorted(re.findall(r"\$\{(\w+)\}", routes))
        self.assertEqual(named, ["OrdersFifoTopic", "OrdersTopic"])
        allowed = {name: sorted(target["Ref"] for target in statement["Resource"])
                   for name, resource in self.template["Resources"].items()
                   for statement in statements(resource) if "sns:Publish" in statement["Action"]}
        self.assertEqual(allowed, {"PublisherPolicy": named})
        for role in ("OutboxRelayRole", "OutboxSweeperRole"):
            self.assertEqual(self.properties(role)["ManagedPolicyArns"], [{"Ref": "PublisherPolicy"}])

    def test_no_role_may_do_anything_to_everything(self):
        for name, resource in self.template["Resources"].items():
            for statement in statements(resource):
                actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
                self.assertFalse([each for each in actions if "*" in each], name)
                self.assertNotEqual(statement["Resource"], "*", name)

    def test_a_subscription_that_drops(self):
        del self.properties("BillingSubscription")["RedrivePolicy"]
        self.one("BillingSubscription", "RedrivePolicy")

    def test_keys_only(self):
        self.properties("OutboxTable")["StreamSpecification"]["StreamViewType"] = "KEYS_ONLY"
        self.one("OutboxTable", "KEYS_ONLY")


if __name__ == "__main__":
    unittest.main()
