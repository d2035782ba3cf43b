"""The template check against the template, whole and broken."""

import copy
import json
import unittest
from pathlib import Path

from samtranslator.yaml_helper import yaml_parse
from template import check

TEMPLATE = Path(__file__).parent.parent / "template.yaml"
MAPPINGS = (("BillingFunction", "Messages"), ("InventoryFunction", "Messages"),
            ("OrderProjectionFunction", "Messages"), ("OutboxRelayFunction", "Rows"))


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
            self.assertEqual(len(problems), 2, problems)  # billing and inventory have an inbox
            self.assertIn("61", problems[0])
        self.template["Parameters"]["InboxWindowDays"]["Default"] = 61
        self.assertEqual(check(self.template), [])

    def test_c17_a_queue_that_keeps_longer_than_is_declared(self):
        self.properties("BillingDlq")["MessageRetentionPeriod"] = 1209600
        self.properties("BillingFunction")["Environment"]["Variables"]["DLQ_RETENTION_DAYS"] = 4
        self.one("BillingFunction", "DLQ_RETENTION_DAYS", "14")

    def test_a_receive_count_that_differs(self):
        self.properties("BillingQueue")["RedrivePolicy"]["maxReceiveCount"] = 9
        self.one("BillingFunction", "MAX_RECEIVE_COUNT")

    def test_a_standard_topic_into_a_fifo_queue(self):
        self.properties("BillingQueue")["FifoQueue"] = True
        self.one("BillingSubscription", "FIFO")

    def test_a_subscription_that_drops(self):
        del self.properties("BillingSubscription")["RedrivePolicy"]
        self.one("BillingSubscription", "RedrivePolicy")

    def test_keys_only(self):
        self.properties("OutboxTable")["StreamSpecification"]["StreamViewType"] = "KEYS_ONLY"
        self.one("OutboxTable", "KEYS_ONLY")


if __name__ == "__main__":
    unittest.main()
