"""Find out whether a run can work, and which text reaches which agent: `cub doctor`."""
