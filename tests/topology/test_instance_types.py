import subprocess
import sys

import botocore.session

from policy_engine.topology.instance_types import training_instance_types


def test_the_instance_types_are_those_of_botocores_own_loader():
    model = botocore.session.get_session().get_service_model("sagemaker")
    assert list(training_instance_types()) == model.shape_for("TrainingInstanceType").enum


def test_the_instance_types_are_read_without_importing_botocore():
    program = (
        "import sys; from policy_engine.topology.instance_types import training_instance_types;"
        "assert training_instance_types(); print('botocore' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "False\n"
    )
